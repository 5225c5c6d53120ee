import { readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openPeople, type TokenHolder } from '../../testing/http/people.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import { until } from '../../testing/until.ts';
import type { Installation } from './installation.ts';

export type Form = readonly (readonly [name: string, value: string | Blob])[];
type Answer = {
  readonly status: number;
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | null;
};

/** An installation, a user with posts, and the folder of uploads. */
type GraphqlUploads = {
  readonly author: TokenHolder;
  readonly reader: TokenHolder;
  readonly ask: RestClient;
  /** Makes a draft of the author; returns its id. */
  post(): Promise<string>;
  send(
    form: Form,
    options?: { readonly headers?: Readonly<Record<string, string>>; readonly token?: string | null },
  ): Promise<Answer>;
  /** Starts a raw request, to break it off in the middle. */
  begin(boundary: string): Promise<Socket>;
  /** Everything in the folder, including unfinished uploads. */
  stored(): Promise<readonly string[]>;
  nothingStored(): Promise<void>;
};

export const PREFLIGHT = { 'GraphQL-Require-Preflight': '1' };
export const SET_COVER =
  'mutation ($id: ID!, $file: Upload!, $v: Int) { setPostCover(id: $id, file: $file, ifVersion: $v) { id cover version } }';

export const createGraphqlUploads = async (installation: Installation): Promise<GraphqlUploads> => {
  const ask = restClientOf(installation);
  const people = await openPeople(installation);
  const service = async (role: 'author' | 'reader') => people.tokenOf(await people.registerService(role));
  const author = await service('author');
  const folder = join(installation.settings.DATA_DIR ?? '', 'uploads');
  let known: readonly string[] = [];
  const stored = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
    return names.filter((name) => !known.includes(name));
  };
  return {
    author,
    reader: await service('reader'),
    ask,
    async post() {
      const { body } = await ask('POST', '/articles', {
        token: author.token,
        body: { title: 'T', body: '', tags: [] },
      });
      known = [...known, ...(await stored())];
      return String((body as { id: number }).id);
    },
    async send(form, { headers = PREFLIGHT, token = author.token } = {}) {
      const body = new FormData();
      for (const [name, value] of form) body.append(name, value as string);
      const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
      const response = await installation.fetch(`${installation.url}/graphql`, {
        method: 'POST',
        headers: { ...authorization, ...headers },
        body,
      });
      const answer = (await response.json()) as {
        errors?: { extensions: { code: string } }[];
        data?: Answer['data'];
        code?: string;
      };
      return {
        status: response.status,
        code: answer.errors?.[0]?.extensions.code ?? answer.code,
        data: answer.data ?? null,
      };
    },
    async begin(boundary) {
      const { hostname, port } = new URL(installation.origin);
      const socket = connect({ port: Number(port), host: hostname });
      socket.on('error', () => {});
      const headers = {
        Host: hostname,
        Authorization: `Bearer ${author.token}`,
        'GraphQL-Require-Preflight': '1',
        'Content-Type': `multipart/form-data; boundary=${boundary}`,
        'Content-Length': '5000000',
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.write(`POST /graphql HTTP/1.1\r\n${lines.join('')}\r\n`);
      return socket;
    },
    stored,
    async nothingStored() {
      expect(await until(stored, (files) => files.length === 0)).toEqual([]);
    },
  };
};

/** In the form of Apollo's upload client: nulls in the operations, the map, and the files by number. */
export const formOf = (query: string, variables: object, files: Readonly<Record<string, Blob>>): Form => [
  ['operations', JSON.stringify({ query, variables })],
  [
    'map',
    JSON.stringify(Object.fromEntries(Object.keys(files).map((path, index) => [String(index), [path]]))),
  ],
  ...Object.values(files).map((file, index) => [String(index), file] as const),
];
