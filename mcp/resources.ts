import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server';
import type { Request } from 'express';
import { call, type Means } from './call.ts';
import type { ToolMap } from './tool-map.ts';
import type { Tool } from './tools.ts';

type Given = {
  readonly request: Request;
  readonly publicUrl: string;
  /** The tools of the caller. */
  readonly tools: readonly Tool[];
  readonly find: ToolMap;
  readonly means: Means;
};

const TYPE = 'application/json';

/** Items and lists under their addresses, as the tools read them. */
export const addResources = (server: Server, { request, publicUrl, tools, find, means }: Given): void => {
  const base = publicUrl.replace(/\/$/, '');
  const reads = tools.filter(({ operation: { method } }) => method === 'GET');
  const isOfItem = ({ operation: { path } }: Tool): boolean => path.includes('{');
  const about = ({ name, title }: Tool) => ({ name, title, mimeType: TYPE });
  server.setRequestHandler('resources/list', () => ({
    resources: reads
      .filter((tool) => !isOfItem(tool))
      .map((tool) => ({ uri: `${base}${tool.operation.path}`, ...about(tool) })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: reads.filter(isOfItem).map((tool) => ({
      uriTemplate: `${base}${tool.operation.path}`,
      ...about(tool),
    })),
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    const path = uri.startsWith(`${base}/`) ? uri.slice(base.length) : '';
    const found = find('GET', path);
    if (found === undefined || !tools.includes(found.tool))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'There is no such resource that you may read.',
      );
    const asked = { ...found, key: undefined, traceparent: undefined, signal };
    const { isRefused, content } = await call(request, asked, means);
    if (isRefused) throw new ProtocolError(ProtocolErrorCode.InvalidParams, String(content.title));
    return { contents: [{ uri, mimeType: TYPE, text: JSON.stringify(content) }] };
  });
};
