import type { Webhook } from '#shared/rest/webhook.ts';
import type { FieldFacts, FormFieldFacts } from '../../domain-facts.ts';
import type { ProblemFacts } from '../base/problem.ts';
import type { Raw } from '../data/form-values.ts';

/** The form of an endpoint, and its request body. */

const field = (
  name: string,
  title: string,
  type: FormFieldFacts['type'],
  more: Partial<FormFieldFacts> = {},
): FormFieldFacts => ({
  ...{ name, wire: name, title, type, isRequired: false, isNullable: false, schema: {} },
  ...more,
});

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 500;
const RATE_PER_SECOND_MAX = 1_000;
const CONCURRENCY_MAX = 50;

export const addressFields: readonly FormFieldFacts[] = [
  field('url', 'URL', 'value', {
    isRequired: true,
    schema: { maxLength: URL_CHARACTERS_MAX },
    says: 'Redirects are not followed.',
  }),
  field('description', 'Description', 'value', {
    isNullable: true,
    schema: { maxLength: DESCRIPTION_CHARACTERS_MAX },
  }),
];

/** `filters` are those of the domain. */
export const moreFields = (filters: readonly FieldFacts[]): readonly FormFieldFacts[] => [
  ...filters.map((filter) => ({
    ...filter,
    title: `Only of this ${filter.title.toLowerCase()}`,
    isRequired: false,
    isNullable: true,
    schema: {},
  })),
  field('payload', 'Payload', 'choice', {
    isRequired: true,
    values: ['thin', 'full'],
    means: { thin: 'only ids; the receiver reads the item.', full: 'all fields that you may read.' },
  }),
  field('format', 'Format', 'choice', {
    isRequired: true,
    values: ['annals', 'cloudevents', 'cloudevents_binary'],
    means: {
      annals: 'our own.',
      cloudevents: 'CloudEvents 1.0, all of it in the body.',
      cloudevents_binary: 'CloudEvents 1.0, with its attributes in headers.',
    },
  }),
  field('ordered', 'In the order of events', 'boolean', {
    says: 'Each delivery waits until the one before it has succeeded or is a dead letter.',
  }),
  field('ratePerSecond', 'Maximum requests per second', 'integer', {
    schema: { minimum: 1, maximum: RATE_PER_SECOND_MAX },
  }),
  field('concurrency', 'Maximum concurrent requests', 'integer', {
    schema: { minimum: 1, maximum: CONCURRENCY_MAX },
  }),
  field('headers', 'Additional headers', 'set', {
    hasLines: true,
    says: 'As “Name: value”. Values are never shown again; ******** keeps the current value.',
  }),
];

const INITIAL: Raw = {
  ...{ payload: 'thin', format: 'annals', ordered: false },
  ...{ ratePerSecond: '50', concurrency: '10' },
};

export const rawOf = (webhook: Webhook | undefined): Raw =>
  webhook === undefined
    ? INITIAL
    : {
        ...{
          url: webhook.url,
          description: webhook.description ?? '',
          payload: webhook.payload,
          format: webhook.format,
          ordered: webhook.ordered,
        },
        ratePerSecond: String(webhook.limits.ratePerSecond),
        concurrency: String(webhook.limits.concurrency),
        headers: Object.entries(webhook.headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n'),
        ...Object.fromEntries(Object.entries(webhook.filter).map(([name, id]) => [name, String(id)])),
      };

const text = (raw: Raw, name: string): string => String(raw[name] ?? '').trim();

/** The server refuses an invalid number at its field. */
const number = (raw: Raw, name: string): number | string =>
  /^\d+$/.test(text(raw, name)) ? Number(text(raw, name)) : text(raw, name);

const headersIn = (raw: Raw): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text(raw, 'headers')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .map((line) => {
        const [name = '', ...value] = line.split(':');
        return [name.trim(), value.join(':').trim()];
      }),
  );

/** The whole body. In a change, null removes filters and headers that are left empty. */
export const bodyOf = (
  raw: Raw,
  eventTypes: readonly string[],
  filters: readonly FieldFacts[],
  before?: Webhook,
): object => {
  const gone = <Value>(names: readonly string[], of: Readonly<Record<string, Value>>) =>
    Object.fromEntries(names.filter((name) => !Object.hasOwn(of, name)).map((name) => [name, null]));
  const given = filters
    .filter(({ name }) => text(raw, name) !== '')
    .map(({ name }) => [name, number(raw, name)] as const);
  const [filter, headers] = [Object.fromEntries(given), headersIn(raw)];
  return {
    url: text(raw, 'url'),
    description: text(raw, 'description') || null,
    eventTypes,
    filter: { ...filter, ...gone(Object.keys(before?.filter ?? {}), filter) },
    payload: raw.payload,
    format: raw.format,
    ordered: raw.ordered === true,
    limits: { ratePerSecond: number(raw, 'ratePerSecond'), concurrency: number(raw, 'concurrency') },
    headers: { ...headers, ...gone(Object.keys(before?.headers ?? {}), headers) },
  };
};

const WITHIN = /^\/(?:filter|limits)(?=\/)/;

/** Maps errors to the form, which is flat, while the request is nested. */
export const atFields = (problem: ProblemFacts): ProblemFacts => ({
  ...problem,
  errors: problem.errors?.map(({ pointer, detail }) => ({ pointer: pointer.replace(WITHIN, ''), detail })),
});
