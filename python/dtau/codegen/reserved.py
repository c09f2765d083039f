"""Names that C, C++ and their libraries reserve: `what_reserves`; of CUDA: `what_cuda_reserves`."""

from __future__ import annotations

import re

_KEYWORDS = """
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
break case catch char char8_t char16_t char32_t class co_await co_return co_yield compl concept
const const_cast consteval constexpr constinit continue decltype default delete do double
dynamic_cast else enum explicit export extern false float for friend goto if inline int long
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
reflexpr register reinterpret_cast requires restrict return short signed sizeof static
static_assert static_cast struct switch synchronized template this thread_local throw true try
typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t
while xor xor_eq i386 linux main unix
"""
_MATH = """
acos acosh asin asinh atan atan2 atanh cabs cacos cacosh canonicalize carg casin casinh catan
catanh cbrt ccos ccosh ceil cexp cimag clog clog10 conj copysign cos cosh cpow cproj creal csin
csinh csqrt ctan ctanh drem erf erfc exp exp10 exp2 expm1 fabs fdim finite floor fma fmax fmaximum
fmaximum_mag fmaximum_mag_num fmaximum_num fmaxmag fmin fminimum fminimum_mag fminimum_mag_num
fminimum_num fminmag fmod frexp fromfp fromfpx gamma getpayload hypot ilogb isinf isnan j0 j1 jn
ldexp lgamma llogb llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint
nextafter nextdown nexttoward nextup pow pow10 remainder remquo rint round roundeven scalb scalbln
scalbn setpayload setpayloadsig significand sin sincos sinh sqrt tan tanh tgamma totalorder
totalordermag trunc ufromfp ufromfpx y0 y1 yn
"""  # each also with the suffixes of float types
_LIBRARY = """
BIG_ENDIAN BUFSIZ BYTE_ORDER CHAR_BIT CLOCKS_PER_SEC DOMAIN EOF EXIT_FAILURE EXIT_SUCCESS FILE
FLT_EVAL_METHOD FLT_RADIX FLT_ROUNDS FP_FAST_FMA FP_FAST_FMAF FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN
FP_INFINITE FP_INT_DOWNWARD FP_INT_TONEAREST FP_INT_TONEARESTFROMZERO FP_INT_TOWARDZERO
FP_INT_UPWARD FP_LLOGB0 FP_LLOGBNAN FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO HUGE HUGE_VAL HUGE_VALF
HUGE_VALL INFINITY LITTLE_ENDIAN MATH_ERREXCEPT MATH_ERRNO MAXFLOAT MB_CUR_MAX NAN NFDBITS NULL
OVERFLOW PDP_ENDIAN PLOSS RAND_MAX SEEK_CUR SEEK_END SEEK_SET SING SNAN SNANF SNANL TLOSS
UNDERFLOW WCONTINUED WEXITED WEXITSTATUS WIFCONTINUED WIFEXITED WIFSIGNALED WIFSTOPPED WNOHANG
WNOWAIT WSTOPPED WSTOPSIG WTERMSIG WUNTRACED X_TLOSS a64l abort abs aligned_alloc alloca
arc4random arc4random_buf arc4random_uniform asctime assert at_quick_exit atexit atof atoi atol
atoll bcmp bcopy be16toh be32toh be64toh blkcnt64_t blkcnt_t blksize_t bsearch btowc bzero
c16rtomb c32rtomb caddr_t calloc canonicalize_file_name clearenv clearerr clock clock_t clockid_t
comparison_fn_t ctime daddl daddr_t dcgettext ddivl dev_t dfmal dgettext difftime div div_t dmull
double_t drand48 drand48_r dsqrtl dsubl ecvt ecvt_r erand48 erand48_r errno execl execle execlp
execv execve execvp exit fadd faddl fclose fcvt fcvt_r fd_mask fd_set fdiv fdivl feclearexcept
fegetenv fegetexceptflag fegetround feholdexcept fenv_t feof feraiseexcept ferror fesetenv
fesetexceptflag fesetround fetestexcept feupdateenv fexcept_t fflush ffma ffmal ffs ffsl ffsll
fgetc fgetpos fgets fgetwc fgetws float_t fmul fmull fopen fork fpclassify fpos_t fprintf
fprintf_unlocked fputc fputc_unlocked fputs fputs_unlocked fputwc fputws fread free freopen
fsblkcnt64_t fsblkcnt_t fscanf fseek fsetpos fsfilcnt64_t fsfilcnt_t fsid_t fsqrt fsqrtl fsub
fsubl ftell fwide fwprintf fwrite fwrite_unlocked fwscanf gamma_r gammaf_r gammal_r gcvt getc
getchar getenv getloadavg getpt getsubopt gettext getwc getwchar gid_t gmtime grantpt htobe16
htobe32 htobe64 htole16 htole32 htole64 id_t imaxabs imaxdiv imaxdiv_t index initstate initstate_r
ino64_t ino_t int16_t int32_t int64_t int8_t isalnum isalpha isascii isblank iscanonical iscntrl
isdigit iseqsig isfinite isgraph isgreater isgreaterequal isless islessequal islessgreater islower
isnormal isprint ispunct issignaling isspace issubnormal isunordered isupper iswalnum iswalpha
iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
iswxdigit isxdigit iszero jrand48 jrand48_r key_t l64a labs lcong48 lcong48_r ldiv ldiv_t le16toh
le32toh le64toh lgamma_r lgammaf_r lgammal_r llabs lldiv lldiv_t locale_t localeconv localtime
loff_t longjmp lrand48 lrand48_r malloc math_errhandling max_align_t mblen mbrlen mbrtoc16
mbrtoc32 mbrtowc mbsinit mbsrtowcs mbstate_t mbstowcs mbtowc memchr memcmp memcpy memmove mempcpy
memset mkdtemp mkostemp mkostemp64 mkostemps mkostemps64 mkstemp mkstemp64 mkstemps mkstemps64
mktemp mktime mode_t mrand48 mrand48_r nlink_t nrand48 nrand48_r off64_t off_t offsetof on_exit
perror pid_t posix_memalign posix_openpt printf printf_unlocked pselect ptrdiff_t ptsname
ptsname_r putc putchar putchar_unlocked putenv puts puts_unlocked putwc putwchar qecvt qecvt_r
qfcvt qfcvt_r qgcvt qsort qsort_r quad_t quick_exit raise rand rand_r random random_r realloc
reallocarray realpath register_t remove rename rewind rindex rpmatch scanf secure_getenv seed48
seed48_r select setbuf setenv setjmp setlocale setstate setstate_r setvbuf sig_atomic_t signal
signbit signgam sigset_t size_t snprintf sprintf srand srand48 srand48_r srandom srandom_r sscanf
ssize_t std stderr stdin stdout stpcpy stpncpy strcasecmp strcat strchr strcmp strcoll strcpy
strcspn strdup strerror strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup
strpbrk strrchr strspn strstr strtok strxfrm suseconds_t swprintf swscanf system time time_t
timer_t timespec timespec_get timeval tm tmpfile tmpnam toascii tolower toupper towctrans towlower
towupper u_char u_int u_int16_t u_int32_t u_int64_t u_int8_t u_long u_quad_t u_short uid_t uint
uint16_t uint32_t uint64_t uint8_t ulong ungetc ungetwc unlockpt unsetenv useconds_t ushort valloc
vfprintf vfscanf vfwprintf vfwscanf vprintf vscanf vsnprintf vsprintf vsscanf vswprintf vswscanf
vwprintf vwscanf wcrtomb wcscat wcschr wcscmp wcscoll wcscpy wcscspn wcsftime wcslen wcsncat
wcsncmp wcsncpy wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstod wcstof wcstoimax wcstok wcstol
wcstold wcstoll wcstombs wcstoul wcstoull wcstoumax wcsxfrm wctob wctomb wctrans wctype wctype_t
wint_t wmemchr wmemcmp wmemcpy wmemmove wmemset wprintf wscanf
"""
_TAKEN = {
    **dict.fromkeys(_LIBRARY.split(), "a name of the C library"),
    **dict.fromkeys(_KEYWORDS.split(), "a word of C or C++"),
}
_FUNCTIONS = "|".join(_MATH.split())
_OF_MATH = re.compile(rf"({_FUNCTIONS})(f|l|b?f16|f32x?|f64x?|f128x?|d32|d64x?|d128x?)?")
_OF_NARROW = re.compile(r"[fd]\d+x?(add|sub|mul|div|sqrt|fma)[fd]\d+x?|(HUGE_VAL|SNAN)_?[FD]\d+X?")
_CONSTANT = re.compile(r"M_[A-Z0-9_]+(f\d*x?|l)?")
_OF_LIBRARY = re.compile(r"(pthread|lgamma[fl]?)_?.*_[tr]|str(to|from)[a-z]+\d*x?(_l)?|FD_[A-Z]+")


def what_reserves(name: str) -> str:
    """Describe what reserves a name, or return nothing if it is free."""
    if name in _TAKEN:
        return _TAKEN[name]
    if _OF_MATH.fullmatch(name) or _OF_NARROW.fullmatch(name) or _CONSTANT.fullmatch(name):
        return "a name of <math.h>"
    if _OF_LIBRARY.fullmatch(name):
        return "a name of the C library"
    return "a name that C reserves for compilers" if re.match("__|_[A-Z]", name) else ""


# From CUDA 13's headers: vector types, variables and functions of devices, the runtime, the driver
_OF_CUDA = re.compile(
    r"(make_)?u?(char|short|int|long|longlong|float|double)[1-4](_(16|32)a)?|dim3|threadIdx|warpSize"
    r"|block(Idx|Dim)|gridDim|cuda[A-Z_]\w*|(cu|CU_?)[A-Z]\w*|(tex|surf)([123]D|Cubemap)\w*"
    r"|atomic[A-Z]\w*|(sincospi|sinpi|cospi|erfcinv|erfcx|erfinv|normcdf|normcdfinv)f?"
    r"|(rcbrt|rhypot|rsqrt|cyl_bessel_i[01]|r?norm([34]d)?)f?|fdividef?|(u|ll|ull)?(min|max)"
    r"|(double|float)2u?(int|ll|double)|(u?int|u?ll)2double|clock64|clock"
)


def what_cuda_reserves(name: str) -> str:
    """Say that CUDA reserves a name, or return an empty text if the name is free."""
    return "a name of CUDA" if _OF_CUDA.fullmatch(name) else ""
