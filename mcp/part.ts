import { Router } from 'express';
import { routesWhenAsked } from '#edge/http/routes-when-asked.ts';
import type { QueryPart } from '../query/part.ts';

/** Tools for agents, as a part of the role whose interface they call. */
export const part: QueryPart = {
  links: [{ rel: 'mcp', href: '/mcp', title: 'Tools for agents (Model Context Protocol)' }],
  apis: [{ path: '/mcp', title: 'Tools for agents (Model Context Protocol)', page: '/docs/guides/agents' }],
  open: ({ domain, config }) => {
    const served = routesWhenAsked(async () =>
      (await import('./serve.ts')).serveTools({
        ...config,
        domain,
        bodyBytesMax: config.limits.bodyBytesMax,
        headerBytesMax: config.limits.headerBytesMax,
      }),
    );
    return { routes: Router({ strict: true }).all('/mcp', served) };
  },
};
