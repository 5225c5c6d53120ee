import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { Tool } from './tools.ts';

/** An item, and beside it the tools that its links lead to, by their relation. */
export type NextSteps = (item: Json) => JsonObject;

type Link = { readonly href?: unknown; readonly method?: unknown };

/** Of the tools that the caller has. */
export const nextStepsBy = (tools: readonly Tool[]): NextSteps => {
  const stepTo = ({ href, method = 'GET' }: Link): JsonObject | undefined => {
    if (typeof href !== 'string') return undefined;
    const { pathname, searchParams } = new URL(href, 'http://localhost');
    for (const tool of tools) {
      const found = tool.operation.method === method ? argumentsOf(tool, pathname) : undefined;
      if (found) return { tool: tool.name, arguments: { ...queryOf(tool, searchParams), ...found } };
    }
    return undefined;
  };
  return (item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return { item };
    const { _links: links, ...fields } = item as JsonObject;
    if (links === undefined) return { item };
    const steps = Object.entries(links as Readonly<Record<string, Link>>).flatMap(([rel, link]) => {
      const step = rel === 'self' ? undefined : stepTo(link);
      return step === undefined ? [] : [[rel, step] as const];
    });
    return { item: fields, next: Object.fromEntries(steps) };
  };
};

const queryOf = (tool: Tool, query: URLSearchParams): JsonObject =>
  Object.fromEntries(
    [...query].flatMap(([name, text]) =>
      tool.places.query.has(name) ? [[name, argumentIn(tool, name, text)]] : [],
    ),
  );

/** The arguments of a tool in a path; undefined if that is another’s. */
export const argumentsOf = (tool: Tool, path: string): JsonObject | undefined => {
  const found = tool.places.pattern.exec(path);
  return found === null || !isDecodable(path)
    ? undefined
    : Object.fromEntries(
        Object.entries(found.groups ?? {}).map(([name, text]) => [
          name,
          argumentIn(tool, name, decodeURIComponent(text)),
        ]),
      );
};

/** A longer number would not be exact. */
const NUMBER = /^[1-9]\d{0,14}$/;

const argumentIn = ({ inputSchema }: Tool, name: string, text: string): Json =>
  NUMBER.test(text) && isNumber(inputSchema, (inputSchema.properties as Schemas)[name]) ? Number(text) : text;

type Schemas = Readonly<Record<string, JsonObject | undefined>>;

const isNumber = (root: JsonObject, { type, $ref }: JsonObject = {}): boolean =>
  typeof $ref === 'string'
    ? isNumber(root, (root.$defs as Schemas)[$ref.slice('#/$defs/'.length)])
    : type === 'integer' || type === 'number';

const isDecodable = (path: string): boolean => {
  try {
    return decodeURIComponent(path) !== undefined;
  } catch {
    return false;
  }
};
