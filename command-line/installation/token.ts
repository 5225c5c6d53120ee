import * as z from 'zod';
import { StartRefused } from '#kernel/base/start-refused.ts';
import { firstMinutePath, readFirstMinute } from '#process/first-minute-file.ts';
import { loadConfig } from '#process/load-config.ts';
import type { Command, Given } from '../arguments/command.ts';
import { UsageError } from '../arguments/usage-error.ts';
import type { Terminal } from '../terminal.ts';
import { notAtTheMoment } from './not-at-the-moment.ts';

const TIMEOUT_MS = 10_000;

/** The client and the installation. */
export const ACCESS_OPTIONS = {
  client: {
    type: 'string',
    placeholder: '<id>',
    description: 'The client, instead of the one that development creates.',
  },
  secret: {
    type: 'string',
    placeholder: '<secret>',
    description:
      'The secret of --client. Set CLIENT_SECRET in the environment instead to hide it from other users.',
  },
  url: {
    type: 'string',
    placeholder: '<url>',
    description: 'The URL of Annals, if it is not on this machine.',
  },
} as const satisfies Command['options'];

export const token: Command = {
  name: 'token',
  summary: 'Prints an access token of the running server, for a service client.',
  positionals: [],
  options: {
    scope: {
      type: 'string',
      placeholder: '<scopes>',
      description:
        'Scopes of the token, such as "read:{path} write:{path}"; by default all default scopes of the client.',
    },
    ...ACCESS_OPTIONS,
  },
  examples: [
    `token --scope 'read:{path} write:{path}'`,
    'token --client importer --secret annals_secret_… --url https://annals.example',
  ],
  async run(given, terminal) {
    const request = await readTokenRequest(given, terminal);
    await terminal.write(await requestToken(request));
  },
};

type TokenRequest = {
  readonly url: string;
  readonly clientId: string;
  readonly secret: string;
  readonly scope: string | undefined;
};

const LOOPBACK = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** The default client is that of development. */
export const readTokenRequest = async (given: Given, { environment }: Terminal): Promise<TokenRequest> => {
  const one = (option: string): string | undefined => given.values.get(option)?.at(-1);
  const [clientId, scope] = [one('client'), one('scope')];
  const secret = one('secret') ?? environment.CLIENT_SECRET;
  if (one('secret') !== undefined && clientId === undefined)
    throw new UsageError('--secret requires --client');
  if (clientId !== undefined && secret === undefined)
    throw new UsageError(`--client ${clientId} goes with --secret`);
  const { dataDir, publicUrl } = loadConfig(environment);
  const known = await readFirstMinute(dataDir);
  const url = demandUrl(one('url') ?? known?.url ?? publicUrl);
  if (clientId !== undefined && secret !== undefined) return { url, clientId, secret, scope };
  if (known === undefined) {
    throw new StartRefused(
      `There is no ${firstMinutePath(dataDir)}: run npm start first, in development, or give --client and --secret.`,
    );
  }
  const { origin, hostname } = new URL(url);
  // The secret of development is for this machine.
  if (!LOOPBACK.test(hostname) && origin !== new URL(known.url ?? publicUrl).origin)
    throw new StartRefused(`The client of development is not for ${origin}: give --client and --secret.`);
  return { url, ...known.client, scope };
};

/** The address of the installation, from the options or the settings. */
export const readUrl = async ({ values }: Given, { environment }: Terminal): Promise<string> => {
  const { dataDir, publicUrl } = loadConfig(environment);
  return demandUrl(values.get('url')?.at(-1) ?? (await readFirstMinute(dataDir))?.url ?? publicUrl);
};

const demandUrl = (url: string): string => {
  if (!/^https?:/.test(url) || !URL.canParse(url))
    throw new UsageError(`--url must be an http or https URL, but is “${url}”`);
  return url.replace(/\/+$/, '');
};

const Answer = z.union([
  z.object({ access_token: z.string() }),
  z.object({ error: z.string(), error_description: z.string().optional() }),
]);

/** A problem (RFC 9457). */
const Coded = z.object({ code: z.string() });

/** Client credentials (RFC 6749, section 4.4). */
const requestToken = async ({ url, clientId, secret, scope }: TokenRequest): Promise<string> => {
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString(
    'base64',
  );
  const response = await fetch(`${url.replace(/\/+$/, '')}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}`, accept: 'application/json' },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch((cause: unknown) => {
    throw new StartRefused(
      `Annals does not answer at ${url}: start it with npm start, or give its address with --url.`,
      { cause },
    );
  });
  const body: unknown = await response.json().catch(() => undefined);
  const answer = Answer.safeParse(body);
  if (!answer.success)
    throw new StartRefused(
      notAtTheMoment(url, response.status, Coded.safeParse(body).data?.code) ??
        `The server at ${url} is not Annals (status ${response.status}): give its address with --url.`,
    );
  if ('access_token' in answer.data) return answer.data.access_token;
  const { error, error_description: description } = answer.data;
  throw new StartRefused(
    `The server issued no token for ${clientId}: ${error}${description === undefined ? '' : `, ${description}`}.`,
  );
};
