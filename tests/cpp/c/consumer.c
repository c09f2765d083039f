/* Writes the mass matrix of a robot in a configuration, and the logarithm of the pose at its head:
 * c_consumer ROBOT < CONFIGURATION > RESULTS, all numbers of a free root as float64. */
#include <dtau.h>
#include <stdio.h>
#include <stdlib.h>

static void require(int code) {
    if (code == DTAU_OK) return;
    fprintf(stderr, "%s\n", dtau_error());
    exit(1);
}

int main(int count, char** arguments) {
    dtau_model* model;
    dtau_function *mass_matrix, *pose_log;
    if (count != 2) return 2;
    require(dtau_model_load(arguments[1], &model));
    require(dtau_function_make(model, "mass_matrix", NULL, 0, 1, &mass_matrix));
    require(dtau_function_make(NULL, "pose_log", NULL, 0, 1, &pose_log));

    const size_t nq = dtau_model_nq(model), nv = dtau_model_nv(model);
    double* q = malloc(nq * sizeof *q);
    double* M = malloc(nv * nv * sizeof *M);
    double twist[6];
    if (!q || !M || fread(q, sizeof *q, nq, stdin) != nq) return 2;
    const double *state[] = {q, NULL}, *pose[] = {q};
    double *matrix[] = {M}, *logarithm[] = {twist};
    require(dtau_function_run(mass_matrix, state, matrix, 1));
    require(dtau_function_run(pose_log, pose, logarithm, 1));
    fwrite(M, sizeof *M, nv * nv, stdout);
    fwrite(twist, sizeof *twist, 6, stdout);

    free(M);
    free(q);
    dtau_function_free(pose_log);
    dtau_function_free(mass_matrix);
    dtau_model_free(model);
    return 0;
}
