import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';

/** Another GraphQL service, as configured by GRAPHQL_COMPOSE. */
export type Service = {
  readonly name: string;
  readonly url: string;
  readonly timeoutMs: number;
  /** Sent with every request to it. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Lower-case names of the client’s headers that are passed on. Unless `authorization` is listed, the
   * service never sees a token.
   */
  readonly forwardHeaders: readonly string[];
  /** A prefix for its types and root fields, to avoid conflicts of names. */
  readonly prefix: string;
  /** A file with its schema as SDL, used if the service is down or refuses introspection. */
  readonly schemaFile: string | undefined;
};

const TIMEOUT_MS = 5_000;
const TIMEOUT_MAX_MS = 60_000;
const SERVICES_MAX = 20;

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,39}$/;
const name = z
  .string()
  .regex(NAME, { error: 'Must begin with a letter and be at most 40 letters, digits, _ and -.' });
const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,100}$/)
  .toLowerCase()
  .refine((header) => !OF_THE_CONNECTION.has(header), {
    error: 'Must not be a header of the connection, which cannot be forwarded.',
  });
const OF_THE_CONNECTION = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'accept',
  'accept-encoding',
]);

const GivenService = z.strictObject({
  url: z.url({ protocol: /^https?$/ }),
  timeoutMs: z.int().min(1).max(TIMEOUT_MAX_MS).default(TIMEOUT_MS),
  headers: z.record(HeaderName, z.string()).default({}),
  forwardHeaders: z.array(HeaderName).default([]),
  prefix: z
    .string()
    .regex(/^(?:[A-Za-z][A-Za-z0-9_]{0,39})?$/)
    .default(''),
  schemaFile: z.string().optional(),
});
const Services = z.record(name, GivenService);

/** `name=url,name=url`, or the path of a JSON file with an object of services by name. */
export const readServices = (setting: string): readonly Service[] => {
  const isFile = setting.endsWith('.json');
  const parsed = Services.safeParse(isFile ? readFile(setting) : readList(setting));
  if (!parsed.success)
    throw refuse(isFile ? `the file ${setting} is invalid:\n${z.prettifyError(parsed.error)}` : EXPECTED);
  const services = Object.entries(parsed.data);
  if (services.length > SERVICES_MAX)
    throw refuse(`at most ${SERVICES_MAX} services can be composed, but it has ${services.length}.`);
  const folder = dirname(setting);
  return services.map(([name, { schemaFile, ...service }]) => ({
    name,
    ...service,
    schemaFile: schemaFile === undefined ? undefined : resolve(folder, schemaFile),
  }));
};

const EXPECTED = 'it must be services as name=url, separated by commas, or the path of a JSON file.';

const readFile = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw refuse(`the file ${path} cannot be read as JSON: ${(cause as Error).message}.`, cause);
  }
};

const readList = (text: string): Readonly<Record<string, unknown>> => {
  const entries = text.split(',').map((item) => {
    const at = item.indexOf('=');
    return [item.slice(0, Math.max(0, at)).trim(), { url: item.slice(at + 1).trim() }] as const;
  });
  if (new Set(entries.map(([each]) => each)).size !== entries.length)
    throw refuse('the names of the services must be unique.');
  return Object.fromEntries(entries);
};

const refuse = (reason: string, cause?: unknown) => new StartRefused(`GRAPHQL_COMPOSE: ${reason}`, { cause });
