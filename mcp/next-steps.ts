import type { Json, JsonObject } from '#kernel/base/json.ts';
import { argumentIn, type ToolMap } from './tool-map.ts';
import type { Tool } from './tools.ts';

/** An item, and beside it the tools that its links lead to, by their relation. */
export type NextSteps = (item: Json) => JsonObject;

type Link = { readonly href?: unknown; readonly method?: unknown };

/** Only to the tools that the caller has. */
export const nextStepsBy = (find: ToolMap, own: ReadonlySet<Tool>): NextSteps => {
  const stepTo = ({ href, method = 'GET' }: Link): JsonObject | undefined => {
    if (typeof href !== 'string' || typeof method !== 'string') return undefined;
    const { pathname, searchParams } = new URL(href, 'http://localhost');
    const found = find(method, pathname);
    if (found === undefined || !own.has(found.tool)) return undefined;
    const { tool, given } = found;
    return { tool: tool.name, arguments: { ...queryOf(tool, searchParams), ...given } };
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
