import type { Json, JsonObject } from '#kernel/base/json.ts';
import type { Tool } from './tools.ts';

/** Replaces the links of an item by the tools that they lead to, with their arguments. */
export type NextSteps = (item: Json) => Json;

type Link = { readonly href?: unknown; readonly method?: unknown };

/** Of the tools that the caller has. */
export const nextStepsBy = (tools: readonly Tool[]): NextSteps => {
  const stepTo = ({ href, method = 'GET' }: Link): readonly [string, JsonObject] | undefined => {
    if (typeof href !== 'string') return undefined;
    const { pathname } = new URL(href, 'http://localhost');
    for (const tool of tools) {
      const found = tool.operation.method === method ? argumentsOf(tool, pathname) : undefined;
      if (found) return [tool.name, found];
    }
    return undefined;
  };
  return (item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) return item;
    const { _links: links, ...fields } = item as JsonObject;
    if (links === undefined) return item;
    const steps = Object.entries(links as Readonly<Record<string, Link>>).flatMap(([rel, link]) => {
      const step = rel === 'self' ? undefined : stepTo(link);
      return step === undefined ? [] : [step];
    });
    return { ...fields, next: Object.fromEntries(steps) };
  };
};

/** The arguments of a tool in a path; undefined if that is another’s. */
export const argumentsOf = ({ places }: Tool, path: string): JsonObject | undefined => {
  const found = places.pattern.exec(path);
  return found === null || !isDecodable(path)
    ? undefined
    : Object.fromEntries(
        Object.entries(found.groups ?? {}).map(([name, text]) => [
          name,
          /^[1-9]\d{0,15}$/.test(text) ? Number(text) : decodeURIComponent(text),
        ]),
      );
};

const isDecodable = (path: string): boolean => {
  try {
    return decodeURIComponent(path) !== undefined;
  } catch {
    return false;
  }
};
