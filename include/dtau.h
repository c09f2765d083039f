/* The C interface: load a model, make a function by its name, call it on raw pointers.
 *
 * Functions return 0, or a code and a sentence: dtau_error(). Nothing throws, and null pointers are
 * refused. A call of dtau_function_run allocates nothing and, on one thread, takes no lock. Arrays are
 * contiguous float64, with the shapes of the Python function of the same name. docs/cpp.md explains.
 */
#ifndef DTAU_H
#define DTAU_H

#include <stddef.h>

#if !defined(DTAU_API)
#if defined(_WIN32)
#define DTAU_API
#else
#define DTAU_API __attribute__((visibility("default")))
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DTAU_OK = 0,
    DTAU_INVALID_ARGUMENT = 1, /* a name, an array or a number that does not fit */
    DTAU_INVALID_FILE = 2,     /* missing, truncated, damaged or of another version */
    DTAU_FAILED = 3,           /* out of memory, or no instruction set for this processor */
};

typedef struct dtau_model dtau_model;       /* never changes: any thread may use it */
typedef struct dtau_function dtau_function; /* one for each thread */

/* Version of the library, such as "0.1.0". */
DTAU_API const char* dtau_version(void);

/* What went wrong in this thread's last call that did not return DTAU_OK. */
DTAU_API const char* dtau_error(void);

DTAU_API int dtau_model_load(const char* path, dtau_model** model);
DTAU_API void dtau_model_free(dtau_model* model);
DTAU_API int dtau_model_nq(const dtau_model* model);
DTAU_API int dtau_model_nv(const dtau_model* model);
DTAU_API int dtau_model_nbodies(const dtau_model* model);
DTAU_API int dtau_model_nframes(const dtau_model* model);

/* Names by index, null: no such. The joints that move, with mimic joints, and the bodies that they
 * carry, both nbodies; the frames of all links. */
DTAU_API const char* dtau_model_joint(const dtau_model* model, int index);
DTAU_API const char* dtau_model_body(const dtau_model* model, int index);
DTAU_API const char* dtau_model_frame(const dtau_model* model, int index);

/* The index of a name; -1: no such, and dtau_error() has names that come close. */
DTAU_API int dtau_model_find_joint(const dtau_model* model, const char* name);
DTAU_API int dtau_model_find_body(const dtau_model* model, const char* name);
DTAU_API int dtau_model_find_frame(const dtau_model* model, const char* name);

/* A joint's first entry in a configuration and how many it has, and the same in a velocity. A mimic
 * joint has the entries of the joint that it mimics. */
DTAU_API int dtau_model_joint_entries(const dtau_model* model, int index, int* q, int* nq, int* v,
                                      int* nv);

/* Numbers that the model keeps; null without a model. Limits are infinite where there are none. */
DTAU_API const double* dtau_model_lower_limits(const dtau_model* model);    /* (nq) */
DTAU_API const double* dtau_model_upper_limits(const dtau_model* model);    /* (nq) */
DTAU_API const double* dtau_model_velocity_limits(const dtau_model* model); /* (nv) */
DTAU_API const double* dtau_model_effort_limits(const dtau_model* model);   /* (nv) */
DTAU_API const double* dtau_model_masses(const dtau_model* model);          /* (nbodies) */
DTAU_API const double* dtau_model_gravity(const dtau_model* model);         /* (3) in the world */

/* `arguments` has the arguments that are not arrays, as "name=value" in any order: "axes=mixed",
 * "frames=LF_FOOT", "layout=pattern", "prescribed=110" (a mask), "order=2", "threads=4" (that share
 * a batch; 0: as many as are of use), and constraints in the order of their rows:
 *     "contacts=point; frame=LF_FOOT; axes=mixed; kp=100; kd=20; position=0 0 0; direction=0 0 1"
 *     "contacts=frame; frame=LH_FOOT; placement=1 0 0 0 1 0 0 0 1 0 0 0; acceleration=spatial"
 *     "contacts=loop; frame_a=RF_FOOT; frame_b=RH_FOOT; rows=5; hinge=z"
 *     "contacts_at=..." (a configuration that holds constraints without a position or placement)
 * They have the fields of dtau/library/contacts.hpp; a placement is a rotation by rows and then a
 * translation. Frames, contacts and "by=dt" repeat. `most_states` is the largest batch. The function
 * keeps the model that it needs. Functions of poses and rotations, such as "pose_log", take no
 * model: null. */
DTAU_API int dtau_function_make(const dtau_model* model, const char* name,
                                const char* const* arguments, int narguments, ptrdiff_t most_states,
                                dtau_function** function);
DTAU_API void dtau_function_free(dtau_function* function);

/* Inputs and results in order: how many, their names, and the shape of one state's array (at most
 * five axes; returns how many). */
DTAU_API int dtau_function_ninputs(const dtau_function* function);
DTAU_API int dtau_function_nresults(const dtau_function* function);
DTAU_API const char* dtau_function_input(const dtau_function* function, int index,
                                         ptrdiff_t shape[5], int* ndim);
DTAU_API const char* dtau_function_result(const dtau_function* function, int index,
                                          ptrdiff_t shape[5], int* ndim);

/* The places of a result's numbers in the dense array, by rows, and how many: with "layout=pattern"
 * the numbers that can differ from zero, in the order of the result; 0 of other results. */
DTAU_API ptrdiff_t dtau_function_entries(const dtau_function* function, int index,
                                         const ptrdiff_t** entries);

/* Evaluates `states` states. An optional input may be null. */
DTAU_API int dtau_function_run(dtau_function* function, const double* const* inputs,
                               double* const* results, ptrdiff_t states);

#ifdef __cplusplus
}
#endif
#endif
