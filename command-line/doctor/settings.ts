import { nearest } from '#kernel/base/nearest.ts';
import type { Config } from '#process/config.ts';
import { SETTINGS } from '#process/settings.ts';
import { type Diagnosis, type Examined, ok, warn } from './diagnosis.ts';

/**
 * Finds settings that are valid but do not fit together, or are probably mistakes. Invalid ones are refused
 * before.
 */
export const settings = async ({ config, environment }: Examined): Promise<readonly Diagnosis[]> => {
  const found = [
    ...misspelt(environment),
    ...RULES.filter(({ holds }) => holds(config)).map(({ says, remedy }) => warn(says, remedy)),
  ];
  return found.length > 0
    ? found
    : [ok(`All settings are valid and consistent (NODE_ENV is ${config.environment}).`)];
};

/** Shorter names, and those that differ in more letters, belong to other programs. */
const NAME_CHARACTERS_MIN = 8;
const LETTERS_WRONG_MAX = 2;

const misspelt = (environment: Examined['environment']): readonly Diagnosis[] => {
  const known = Object.keys(SETTINGS);
  return Object.keys(environment).flatMap((name) => {
    if (
      name in SETTINGS ||
      name.length < NAME_CHARACTERS_MIN ||
      !/^[A-Z0-9_]+$/.test(name) ||
      name.endsWith('_FILE')
    )
      return [];
    const meant = nearest(name, known, LETTERS_WRONG_MAX);
    return meant === undefined
      ? []
      : [warn(`${name} is not a setting of Annals.`, `if you mean ${meant}, set that instead.`)];
  });
};

type Rule = { readonly says: string; readonly remedy: string; holds(config: Config): boolean };

const isHttps = ({ publicUrl }: Config): boolean => publicUrl.startsWith('https:');
const isProduction = ({ environment }: Config): boolean => environment === 'production';
const isLocal = ({ publicUrl }: Config): boolean =>
  ['localhost', '127.0.0.1', '[::1]'].includes(new URL(publicUrl).hostname);

const RULES: readonly Rule[] = [
  {
    says: 'PUBLIC_URL is http in production.',
    remedy: 'set it to the https address that clients use: passwords and tokens are sent there.',
    holds: (config) => isProduction(config) && !isHttps(config) && !isLocal(config),
  },
  {
    says: 'NODE_ENV is not production, but PUBLIC_URL is not on this machine.',
    remedy:
      'set NODE_ENV=production before others can reach it: development has relaxed rules and well-known secrets.',
    holds: (config) => !isProduction(config) && !isLocal(config),
  },
  {
    says: 'PUBLIC_URL is https, this process speaks http, and TRUST_PROXY is 0.',
    remedy:
      'set TRUST_PROXY to the number of proxies in front, or all clients share the rate limit of the proxy’s address.',
    holds: (config) => isHttps(config) && config.tls === undefined && config.trustProxy === 0,
  },
  {
    says: 'ISSUER_URL has another origin than PUBLIC_URL.',
    remedy:
      'make sure that both point to this installation: clients look for the authorization server at ISSUER_URL.',
    holds: ({ issuerUrl, publicUrl }) => new URL(issuerUrl).origin !== new URL(publicUrl).origin,
  },
  {
    says: 'Production keeps its data in the embedded PostgreSQL.',
    remedy: 'set DATABASE_URL to a server with backups, or back up DATA_DIR (docs/backup.md).',
    holds: (config) => isProduction(config) && config.databaseUrl === undefined,
  },
  {
    says: 'Every web page may call this production, because CORS_ORIGINS is “any”.',
    remedy: 'set it to the origins of your own pages.',
    holds: (config) => isProduction(config) && config.corsOrigins === 'any',
  },
  {
    says: 'SIGNUP is on and there is no MAIL_URL.',
    remedy:
      'set MAIL_URL and MAIL_FROM: without mail, no address is confirmed, and users cannot reset their passwords themselves.',
    holds: (config) => isProduction(config) && config.signUp !== 'off' && config.mail === undefined,
  },
  {
    says: 'Webhooks may be sent to private addresses in production.',
    remedy:
      'keep WEBHOOK_ALLOW_CIDRS as narrow as possible: everybody who creates a webhook can have requests sent there.',
    holds: (config) => isProduction(config) && config.webhooks.guard.allowed.length > 0,
  },
  {
    says: 'STREAM_HEARTBEAT_MS is over a minute.',
    remedy: 'keep it below the idle timeout of your proxies, which is often a minute.',
    holds: ({ streams }) => streams.heartbeatMs > 60_000,
  },
];
