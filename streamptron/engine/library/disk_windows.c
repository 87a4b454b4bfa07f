#if defined(_WIN32)

#include "library/disk.h"

#include "json/bytes.h"
#include "memory/heap.h"

#include <string.h>
#include <windows.h>

/* bcrypt.dll has it under a longer name, but would be one more library to link */
BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length);

enum { SP_DISK_PIECE = 1 << 30, SP_DISK_DIGITS = 12 };

/* A UTF-8 path in Windows' encoding, in memory that the caller frees; NULL if out of memory. */
static wchar_t *sp_disk_wide(const char *path)
{
    int n = MultiByteToWideChar(CP_UTF8, 0, path, -1, NULL, 0);
    wchar_t *wide = n > 0 ? (wchar_t *)sp_malloc((size_t)n * sizeof(wchar_t)) : NULL;
    if (wide != NULL)
        MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, n);
    return wide;
}

static int sp_disk_identity_of(HANDLE handle, sp_disk_identity *mark)
{
    BY_HANDLE_FILE_INFORMATION info;
    if (!GetFileInformationByHandle(handle, &info))
        return (int)GetLastError();
    mark->device = info.dwVolumeSerialNumber;
    mark->number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    mark->size = (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    mark->seconds = info.ftLastWriteTime.dwHighDateTime;
    mark->nanoseconds = info.ftLastWriteTime.dwLowDateTime;
    return 0;
}

static int sp_disk_map(HANDLE handle, sp_disk_file *file)
{
    HANDLE mapping = CreateFileMappingW(handle, NULL, PAGE_READONLY, 0, 0, NULL);
    if (mapping == NULL)
        return (int)GetLastError();
    file->p = (uint8_t *)MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    int failed = file->p == NULL ? (int)GetLastError() : 0;
    CloseHandle(mapping);
    file->mapped = !failed;
    return failed;
}

static int sp_disk_take(HANDLE handle, bool map, sp_disk_file *file)
{
    if (GetFileType(handle) != FILE_TYPE_DISK)
        return SP_DISK_ODD;
    int failed = sp_disk_identity_of(handle, &file->mark);
    if (failed)
        return failed;
    file->n = (size_t)file->mark.size;
    if (map && file->n > 0)
        return sp_disk_map(handle, file);
    file->p = (uint8_t *)sp_malloc(file->n + 1);
    if (file->p == NULL)
        return SP_DISK_MEMORY;
    for (size_t at = 0; at < file->n;) {
        size_t left = file->n - at;
        DWORD got = 0;
        if (!ReadFile(handle, file->p + at, (DWORD)(left < SP_DISK_PIECE ? left : SP_DISK_PIECE),
                      &got, NULL)
            || got == 0) {
            sp_disk_close(file);
            return got == 0 ? ERROR_HANDLE_EOF : (int)GetLastError();
        }
        at += got;
    }
    return 0;
}

/* Open a file only to look at it; it may be replaced meanwhile. */
static HANDLE sp_disk_look(const wchar_t *path)
{
    return CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL,
                       OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
}

SP_PRIVATE int sp_disk_open(const char *path, bool map, sp_disk_file *file)
{
    memset(file, 0, sizeof(*file));
    wchar_t *wide = sp_disk_wide(path);
    if (wide == NULL)
        return SP_DISK_MEMORY;
    HANDLE handle = sp_disk_look(wide);
    int failed = handle == INVALID_HANDLE_VALUE ? (int)GetLastError() : 0;
    sp_free(wide);
    if (failed)
        return failed;
    failed = sp_disk_take(handle, map, file);
    CloseHandle(handle);
    return failed;
}

SP_PRIVATE void sp_disk_close(sp_disk_file *file)
{
    if (file->mapped)
        UnmapViewOfFile(file->p);
    else
        sp_free(file->p);
    file->p = NULL;
    file->mapped = false;
}

SP_PRIVATE bool sp_disk_is_other(const char *path, const sp_disk_identity *mark)
{
    sp_disk_identity now;
    wchar_t *wide = sp_disk_wide(path);
    HANDLE handle = wide == NULL ? INVALID_HANDLE_VALUE : sp_disk_look(wide);
    sp_free(wide);
    if (handle == INVALID_HANDLE_VALUE)
        return true;
    int failed = sp_disk_identity_of(handle, &now);
    CloseHandle(handle);
    return failed || now.device != mark->device || now.number != mark->number
           || now.size != mark->size || now.seconds != mark->seconds
           || now.nanoseconds != mark->nanoseconds;
}

SP_PRIVATE int sp_disk_random(void *p, size_t n)
{
    return SystemFunction036(p, (ULONG)n) ? 0 : ERROR_GEN_FAILURE;
}

static int sp_disk_fill(HANDLE handle, sp_disk_pieces pieces, const void *owner)
{
    size_t n;
    const uint8_t *p;
    for (int i = 0; (p = (const uint8_t *)pieces(owner, i, &n)) != NULL; i++) {
        while (n > 0) {
            DWORD done = 0;
            if (!WriteFile(handle, p, (DWORD)(n < SP_DISK_PIECE ? n : SP_DISK_PIECE), &done, NULL))
                return (int)GetLastError();
            p += done;
            n -= done;
        }
    }
    return FlushFileBuffers(handle) ? 0 : (int)GetLastError();
}

/* The target's name, followed by random digits. */
static int sp_disk_beside(const char *path, sp_bytes *name)
{
    static const char hex[] = "0123456789abcdef";
    uint8_t random[SP_DISK_DIGITS / 2];
    char ending[SP_DISK_DIGITS + 6] = ".";
    int failed = sp_disk_random(random, sizeof(random));
    if (failed)
        return failed;
    for (int i = 0; i < SP_DISK_DIGITS; i++)
        ending[1 + i] = hex[random[i / 2] >> (4 * (i % 2)) & 15];
    memcpy(ending + 1 + SP_DISK_DIGITS, ".tmp", 5);
    sp_bytes_word(name, path);
    sp_bytes_add(name, ending, sizeof(ending));
    return name->failed ? SP_DISK_MEMORY : 0;
}

static int sp_disk_write(const wchar_t *target, const wchar_t *fresh, sp_disk_pieces pieces,
                         const void *owner, sp_disk_identity *mark)
{
    HANDLE handle = CreateFileW(fresh, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_NEW,
                                FILE_ATTRIBUTE_NORMAL, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return (int)GetLastError();
    int failed = sp_disk_fill(handle, pieces, owner);
    if (!failed)
        failed = sp_disk_identity_of(handle, mark);
    CloseHandle(handle); /* Windows cannot rename an open file */
    if (!failed
        && !MoveFileExW(fresh, target, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        failed = (int)GetLastError();
    if (failed)
        DeleteFileW(fresh);
    return failed;
}

SP_PRIVATE int sp_disk_replace(const char *path, sp_disk_pieces pieces, const void *owner,
                               sp_disk_identity *mark)
{
    sp_bytes name = {.failed = false};
    int failed = sp_disk_beside(path, &name);
    wchar_t *target = sp_disk_wide(path);
    wchar_t *fresh = failed ? NULL : sp_disk_wide((char *)name.p);
    if (!failed && (target == NULL || fresh == NULL))
        failed = SP_DISK_MEMORY;
    if (!failed)
        failed = sp_disk_write(target, fresh, pieces, owner, mark);
    sp_free(target);
    sp_free(fresh);
    sp_bytes_free(&name);
    return failed;
}

#endif
