"""Robots as MJCF, with what the format has and others have not."""

from __future__ import annotations

# Several joints a body, in every order of kinds, off the origins and with ref; fixed bodies
# between; defaults, inertias of geometry, names left out; an actuator with armature and damping.
GANTRY = """<mujoco model="gantry">
  <compiler angle="degree"/>
  <option gravity="0.5 -1 -9"/>
  <default>
    <joint armature="0.02" damping="0.3"/>
    <geom density="900"/>
    <default class="light"><joint armature="0.005" axis="0 1 0"/></default>
  </default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <site name="origin" pos="0 0 1"/>
    <body name="rail" pos="0 0 2" euler="0 0 30">
      <geom type="box" size="1 .1 .1"/>
      <body name="carriage" pos="0.1 0 0.2" euler="10 0 0">
        <joint name="x" type="slide" axis="1 0 0" range="-1 1" pos="3 2 1"/>
        <joint name="y" type="slide" axis="0 1 0.2" ref="0.4"/>
        <joint name="turn" axis="0 0.3 1" pos="0.1 0.2 0.3" ref="25" range="-170 170"/>
        <joint name="tilt" axis="1 0 0" pos="0 -0.1 0.05" ref="-40"/>
        <geom type="box" size=".2 .3 .1" pos=".05 0 0"/>
        <geom type="capsule" size="0.05 0.2" pos="0 .2 .1" euler="20 30 40"/>
        <site name="tool" pos="0.1 0.2 -0.3" euler="0 90 0"/>
        <body name="fixture" pos="0 0 -0.2" euler="0 0 45">
          <inertial pos="0.1 0 0" mass="0.7" fullinertia="0.02 0.03 0.025 0.001 0.002 0.003"/>
          <body name="arm" pos="0.1 0 0" childclass="light">
            <joint name="elbow" pos="0 0 0.5"/>
            <joint type="slide" axis="0 0 1"/>
            <geom type="cylinder" size=".05 .3" pos="0 0 -.3"/>
            <body pos="0 0 -0.6">
              <joint axis="1 0 0" pos="0.02 0 0.03"/>
              <geom type="ellipsoid" size=".1 .05 .2" pos="0 0 -.2"/>
              <site pos="1 2 3"/>
            </body>
          </body>
        </body>
      </body>
      <body name="Second" pos="-0.5 0 0">
        <joint name="a" axis="0 0 1" pos="0 0 3"/>
        <geom size=".1" pos="0.2 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="a" gear="5" armature="0.01" damping="0.02"/></actuator>
</mujoco>"""

# Ball joints, at the body's origin and off it, alone and behind slides.
SHOULDER = """<mujoco model="shoulder">
  <compiler angle="radian"/>
  <worldbody>
    <body name="upper" pos="0.1 0.2 1.5" quat="0.8 0.6 0 0">
      <joint name="shoulder" type="ball" pos="0.01 0.02 0.25" armature="0.03" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.05"/>
      <body name="fore" pos="0.1 0 -0.4">
        <joint name="elbow" axis="0 1 0" range="0 2.5" damping="0.1"/>
        <geom type="capsule" fromto="0 0 0 0.05 0 -0.3" size="0.04"/>
        <body name="hand" pos="0.05 0 -0.3" quat="0.6 0 0.8 0">
          <joint name="slip" type="slide" axis="1 1 0" ref="0.1"/>
          <joint name="wrist" type="ball" pos="0 0 -0.02"/>
          <geom type="box" size="0.05 0.02 0.08" pos="0.01 0 -0.06"/>
          <site name="grip" pos="0 0 -0.1"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>"""

# A free base without a name, behind a body of the world's, and a free body beside it.
WALKER = """<mujoco model="walker">
  <option gravity="0 0 -9.81"/>
  <default><geom type="capsule" size="0.04"/></default>
  <worldbody>
    <body name="post" pos="3 0 0"><geom type="box" size="0.1 0.1 1"/></body>
    <body name="trunk" pos="0 0 0.8" euler="0 10 20">
      <freejoint/>
      <geom type="box" size="0.3 0.15 0.08" pos="0.02 0 0.01" euler="5 0 0"/>
      <site name="imu" pos="0.1 0 0.05" quat="0 1 0 0"/>
      <body name="right" pos="0.2 -0.15 0">
        <joint name="right_hip_x" axis="1 0 0" pos="0 0 0.01" armature="0.01"/>
        <joint name="right_hip_y" axis="0 1 0" pos="0 0 0.01" armature="0.01"/>
        <geom fromto="0 0 0 0 0 -0.3"/>
        <body name="right_shank" pos="0 0 -0.3">
          <joint name="right_knee" axis="0 1 0" damping="0.5" ref="-30"/>
          <geom fromto="0 0 0 0 0 -0.3"/>
          <site name="right_foot" pos="0 0 -0.3"/>
        </body>
      </body>
      <body name="left" pos="0.2 0.15 0">
        <joint name="left_hip_x" axis="1 0 0" pos="0 0 0.01" armature="0.01"/>
        <joint name="left_hip_y" axis="0 1 0" pos="0 0 0.01" armature="0.01"/>
        <geom fromto="0 0 0 0 0 -0.3"/>
      </body>
    </body>
    <body name="ball" pos="1 1 1"><freejoint name="rolling"/><geom type="sphere" size="0.1"/></body>
  </worldbody>
</mujoco>"""

ROBOTS = {"several joints a body": GANTRY, "ball joints": SHOULDER, "a free base": WALKER}
