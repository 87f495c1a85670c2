/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attr.h - compiler attributes used by the public headers.
 *
 * Every macro is empty where the compiler does not know the attribute, so the
 * headers stay C99 and C++ clean.
 */
#ifndef CLEW_ATTR_H
#define CLEW_ATTR_H

#if defined(__GNUC__) || defined(__clang__)
#define CLEW_MUST_CHECK __attribute__((warn_unused_result))
#define CLEW_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEW_API __attribute__((visibility("default")))
#else
#define CLEW_MUST_CHECK
#define CLEW_PRINTF(fmt, args)
#define CLEW_API
#endif

#endif
