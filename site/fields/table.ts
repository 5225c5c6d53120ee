import type { JsonObject } from '#kernel/base/json.ts';
import { type Html, html } from '#shared/html.ts';
import { renderLine } from '../guides/markdown.ts';
import { asObject, formOf } from './form.ts';

/** A field, a parameter or a header, in words. */
export type Field = {
  readonly name: string;
  readonly form: Html;
  readonly description?: string;
  /** Shown small beside the form. */
  readonly note?: string;
  readonly id?: string;
};

export const fieldTable = (heading: Html, fields: readonly Field[]): Html => html`<table class="fields">
<colgroup><col width="30%"><col width="70%"></colgroup>
<thead><tr><th scope="col">${heading}</th><th scope="col">What it is</th></tr></thead>
<tbody>
${fields.map(fieldRow)}</tbody>
</table>
`;

const fieldRow = ({ name, form, description, note, id }: Field): Html =>
  html`<tr${id && html` id="${id}"`}><td><code>${name}</code></td><td>${form}${note && html` <span class="soft">(${note})</span>`}${
    description && html`<br>${renderLine(description)}`
  }</td></tr>\n`;

/**
 * The fields of an object, from its JSON Schema. Those of nested objects follow their field, as
 * `outer.inner`.
 */
export const fieldsOf = (
  schema: JsonObject,
  missing = 'not always present',
  within = '',
): readonly Field[] => {
  const { properties, required } = schema;
  return Object.entries(asObject(properties)).flatMap(([key, value]) => {
    const field = asObject(value);
    const name = `${within}${key}`;
    const isRequired = Array.isArray(required) && required.includes(key);
    return [
      {
        name,
        form: formOf(field),
        ...(typeof field.description === 'string' && { description: field.description }),
        ...(!isRequired && { note: missing }),
      },
      ...innerObjects(field).flatMap(([inner, suffix]) => fieldsOf(inner, missing, `${name}${suffix}.`)),
    ];
  });
};

/** The unnamed objects within a field. */
const innerObjects = (field: JsonObject): readonly (readonly [schema: JsonObject, suffix: string])[] => {
  if (field.properties !== undefined) return [[field, '']];
  if (field.type === 'array')
    return innerObjects(asObject(field.items)).map(([inner, suffix]) => [inner, `[]${suffix}`]);
  return Array.isArray(field.anyOf) ? field.anyOf.flatMap((each) => innerObjects(asObject(each))) : [];
};
