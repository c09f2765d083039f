/* A computed-torque loop at 1 kHz, with feed-forward of the jerk, on a simulated arm.
 *
 *     python write_arm.py && make && ./computed_torque
 *
 * The torque of a cycle is held until the next one, so the right one is that of the middle of the cycle:
 * tau + dtau/dt dt / 2. The rate of the torque needs the jerk of the reference. With a torque that knows
 * nothing of it, errors are as large as half a cycle's delay makes them. */
#define _POSIX_C_SOURCE 199309L
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "arm.h"
#include "simulated.h"

enum { n = arm_nv, cycles = 5000 };
static const double dt = 1e-3, kp = 400.0, kd = 40.0;

/* A sine of its own frequency for each joint, with its derivatives: r[k * n + j]. */
static void reference(double t, double *r) {
    for (int j = 0; j < n; ++j) {
        const double w = 3.0 + 0.7 * j, s = 0.5 * sin(w * t + j), c = 0.5 * cos(w * t + j);
        r[j] = s;
        r[n + j] = w * c;
        r[2 * n + j] = -w * w * s;
        r[3 * n + j] = -w * w * w * c;
    }
}

/* q, v -> tau. */
static void control(double t, const double *q, const double *v, double ahead, double *tau) {
    double r[4 * n], v_derivatives[3 * n], torque_and_rate[2 * n];
    reference(t, r);
    for (int j = 0; j < n; ++j) {
        v_derivatives[j] = v[j];
        v_derivatives[n + j] = r[2 * n + j] + kp * (r[j] - q[j]) + kd * (r[n + j] - v[j]);
        v_derivatives[2 * n + j] = r[3 * n + j];
    }
    arm_torque_and_rate(q, v_derivatives, torque_and_rate);
    for (int j = 0; j < n; ++j) tau[j] = torque_and_rate[j] + ahead * torque_and_rate[n + j];
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The root of the mean square of the errors in radians, of the second half of the cycles. */
static double run(double ahead, double *microseconds) {
    double r[4 * n], q[arm_nq], v[n], tau[n], q_next[arm_nq], v_next[n], sum = 0.0, time = 0.0;
    reference(0.0, r);
    for (int j = 0; j < n; ++j) q[j] = r[j], v[j] = r[n + j];
    for (int k = 0; k < cycles; ++k) {
        const double start = seconds();
        control(k * dt, q, v, ahead, tau);
        time += seconds() - start;
        simulated_step(q, v, tau, &dt, q_next, v_next);
        reference((k + 1) * dt, r);
        for (int j = 0; j < n; ++j) {
            q[j] = q_next[j], v[j] = v_next[j];
            if (2 * k >= cycles) sum += (q[j] - r[j]) * (q[j] - r[j]);
        }
    }
    *microseconds = 1e6 * time / cycles;
    return sqrt(2.0 * sum / (cycles * n));
}

int main(void) {
    double microseconds;
    if (arm_check() != 0 || simulated_check() != 0) return 1;
    const double held = run(0.0, &microseconds), fed = run(0.5 * dt, &microseconds);
    printf("errors without the jerk: %.2e rad\n", held);
    printf("errors with it:          %.2e rad, %.0f times less\n", fed, held / fed);
    printf("%.2f microseconds a cycle\n", microseconds);
    return 0;
}
