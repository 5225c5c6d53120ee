import type { JsonObject } from '#kernel/base/json.ts';
import type { Domain } from '#kernel/registry/registry.ts';
import { type Html, html } from '#shared/html.ts';
import { callTabs } from '../calls/calls.ts';
import {
  type Content,
  type Description,
  nameIn,
  type Operation,
  type Parameter,
  parameterIn,
  type Response,
} from '../calls/description.ts';
import { codeBlock } from '../code/block.ts';
import { formOf } from '../fields/form.ts';
import { type Field, fieldsOf, fieldTable } from '../fields/table.ts';
import { renderLine } from '../guides/markdown.ts';
import type { ShownGraphql } from '../shown-graphql.ts';

/** From this status on, a response is a refusal, and all refusals have one form. */
const REFUSAL_STATUS = 400;

/** Anchors in the format of Swagger UI, which earlier releases used for the whole page. */
export const tagId = (tag: string): string => `/${tag}`;
const operationId = ({ tags: [tag = ''], operationId: id }: Operation): string => `${tagId(tag)}/${id}`;

export const headerId = (name: string): string => `header-${name}`;

/** The contents of the page, and the address for its examples. */
export type Shown = {
  readonly domain: Domain;
  readonly description: Description;
  readonly graphql: ShownGraphql | undefined;
  readonly origin: string;
};

/** One operation, folded up. Trying it out replaces the description of its request. */
export const operationEntry = (
  operation: Operation,
  { domain, description, graphql, origin }: Shown,
): Html => html`<details class="operation" data-operation="${operation.operationId}" data-name="${namesOf(operation)}">
<summary><h3 data-anchor="${operationId(operation)}"><span class="method ${operation.method}">${operation.method.toUpperCase()}</span> <code>${pathText(operation.path)}</code> <span class="summary">${operation.summary}</span></h3></summary>
<p class="demand" id="${operationId(operation)}">${renderLine(operation.description)} <a href="#${operationId(operation)}" aria-label="Link to “${operation.summary}”">Link</a></p>
<p class="try"><button type="button" aria-label="Try it: ${operation.summary}">Try it</button> <span role="status"></span></p>
<div class="described">
<h4>Request</h4>
${callTabs(operation, { domain, description, graphql }, origin)}${parametersOf(operation, description)}${bodyOf(operation, description)}<h4>Answers</h4>
<table class="fields answers">
<colgroup><col><col></colgroup>
<thead><tr><th scope="col">Status</th><th scope="col">What it means</th></tr></thead>
<tbody>
${Object.entries(operation.responses).map(([status, response]) => answerRow(status, response))}</tbody>
</table>
</div>
</details>
`;

const namesOf = ({ method, path, summary, operationId: id }: Operation): string =>
  `${method} ${path} ${summary} ${id}`.toLowerCase();

/** Allows a line break before each segment. */
const pathText = (path: string): Html =>
  html`${path.split('/').map((part, index) => html`${index > 0 && html`<wbr>/`}${part}`)}`;

const parametersOf = ({ parameters }: Operation, description: Description): Html | false =>
  parameters.length > 0 &&
  html`<h4>Parameters</h4>
${fieldTable(
  html`Name`,
  parameters.map((each) => parameterField(parameterIn(description, each))),
)}`;

const parameterField = ({ name, in: place, required, description, schema }: Parameter): Field => ({
  name,
  form: formOf(schema),
  note: required ? `in the ${place}, required` : `in the ${place}`,
  ...(description !== undefined && { description }),
});

const bodyOf = ({ requestBody }: Operation, { schemas }: Description): Html | false => {
  if (requestBody === undefined) return false;
  const forms = formsIn(requestBody.content);
  return html`<h4>Body</h4>
${forms.map(({ types, form, schema }) => {
  const named = typeof schema.$ref === 'string' ? schemas[nameIn(schema.$ref)] : undefined;
  const fields = fieldsOf(named ?? schema, 'optional');
  return html`<p>${form}, as ${types}</p>
${fields.length > 0 && fieldTable(html`Field`, fields)}${exampleOf(named)}`;
})}`;
};

/** Media types with equal contents are shown together. */
const formsIn = (
  content: Content,
): readonly { readonly types: Html; readonly form: Html; readonly schema: JsonObject }[] => {
  const bySchema = Map.groupBy(Object.entries(content), ([, { schema }]) => JSON.stringify(schema ?? {}));
  return [...bySchema.values()].map((alike) => {
    const schema = alike[0]?.[1].schema ?? {};
    const isBytes = Object.keys(schema).length === 0 || schema.format === 'binary';
    return {
      types: html`${alike.map(([type], index) => html`${index > 0 && ', '}<code>${type}</code>`)}`,
      form: isBytes ? html`The bytes` : formOf(schema),
      schema,
    };
  });
};

export const exampleOf = (schema: JsonObject | undefined): Html | false => {
  const example = Array.isArray(schema?.examples) ? schema.examples[0] : undefined;
  return example !== undefined && codeBlock(JSON.stringify(example, null, 2), 'json');
};

const answerRow = (status: string, { description, content = {}, headers = {} }: Response): Html => {
  const names = Object.keys(headers);
  const isRefusal = Number(status) >= REFUSAL_STATUS;
  return html`<tr data-code="${status}"><td>${status}</td><td>${renderLine(description)}${
    !isRefusal &&
    html`${formsIn(content).map(({ types, form }) => html`<br>${form}, as ${types}`)}${
      names.length > 0 &&
      html`<br><span class="soft">Headers:</span> ${names.map((name, index) => html`${index > 0 && ', '}<a href="#${headerId(name)}">${name}</a>`)}`
    }`
  }</td></tr>\n`;
};
