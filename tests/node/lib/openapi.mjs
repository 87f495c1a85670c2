/* SPDX-License-Identifier: Apache-2.0 */
/*
 * openapi.mjs - what tests that are made from /openapi.json share.
 */

/* The schema itself: references followed, the first of several forms. */
export function schemaOf(document, schema) {
  if (schema?.$ref) {
    return schemaOf(document, document.components.schemas[schema.$ref.split("/").pop()]);
  }
  return schema?.oneOf ? schemaOf(document, schema.oneOf[0]) : schema;
}
