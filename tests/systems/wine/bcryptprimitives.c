/* For Wine before version 9, which has no `bcryptprimitives.dll`: the one function of it that Rust calls. Nothing but
 * tests uses this. */

#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
    return size <= MAXDWORD && RtlGenRandom(data, (ULONG)size);
}
