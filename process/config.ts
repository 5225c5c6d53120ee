import type { z } from 'zod';
import type { CorsOrigins } from '#edge/http/cors.ts';
import type { Listener } from '#edge/http/listen.ts';
import type { HttpLimits } from '#edge/http/server.ts';
import type { LoadLimits } from '#edge/http/shed-load.ts';
import type { TlsFiles } from '#edge/http/tls-files.ts';
import type { RatePolicy } from '#edge/rate-limit/rate-limit.ts';
import type { GuardRules } from '#shared/webhooks/guard/check-url.ts';
import type { SETTINGS } from './settings.ts';
import type { Upstream } from './upstreams.ts';

export type Config = {
  readonly environment: 'development' | 'production' | 'test';
  /** The number of processes in which `npm start` serves clients. */
  readonly workers: number;
  /** Among several installations that share users; undefined if it is the only one. */
  readonly cell: number | undefined;
  readonly http: Listener;
  readonly metrics: Listener;
  /** The command role’s listener for the other roles. */
  readonly internal: Listener;
  readonly commandUrls: readonly string[];
  readonly publicUrl: string;
  /** The `iss` of every token. */
  readonly issuerUrl: string;
  /** The address of the key set, for another process. */
  readonly jwksUrl: string;
  /** The role of users who sign up by themselves, or `off`; undefined means the default of the domain. */
  readonly signUp: string | undefined;
  /** Undefined means that no mail is sent. */
  readonly mail: MailSettings | undefined;
  /** The number of proxies in front of this process. */
  readonly trustProxy: number;
  /** Authenticates the ingress, which forwards the certificates of clients. */
  readonly ingressSecret: string | undefined;
  /** Files in PEM; undefined means plain HTTP. */
  readonly tls: TlsFiles | undefined;
  /** The web pages that may send cross-origin requests. */
  readonly corsOrigins: CorsOrigins;
  /** Whether applications may register themselves. */
  readonly registration: 'off' | 'on';
  /** Where documents are that describe clients. */
  readonly clientDocuments: CorsOrigins;
  /** Identity providers with whose accounts people sign in. */
  readonly upstreams: readonly Upstream[];
  readonly dpopNonce: 'offered' | 'required';
  readonly oauthProfile: 'oauth-2.1' | 'fapi-2.0';
  /** Whether a change must state the version it changes. */
  readonly requireIfMatch: boolean;
  readonly dataDir: string;
  /** Undefined means the embedded server. */
  readonly databaseUrl: string | undefined;
  /** Of the same database without a pooler. */
  readonly databaseDirectUrl: string | undefined;
  /** Of streaming replicas, for reads of the read model. */
  readonly readDatabaseUrls: readonly string[];
  /** Undefined means the database. */
  readonly eventLogUrl: string | undefined;
  readonly eventLogPrefix: string;
  /** `postgres:` alone means following the log; otherwise a `kafka:` URL. */
  readonly changeStreamUrl: string;
  /** `postgres:` alone means the database. */
  readonly jobQueueUrl: string;
  /** A `file:` URL of a folder, or an `s3:` URL. */
  readonly blobUrl: string;
  /** Undefined means the one in the data folder, which production refuses. */
  readonly masterKey: string | undefined;
  readonly logLevel: z.output<typeof SETTINGS.LOG_LEVEL.schema>;
  /** Of requests that did not fail on the server; a terminal in development is for the developer's own lines. */
  readonly requestLogLevel: 'debug' | 'info';
  readonly tracing: TracingSettings;
  readonly limits: HttpLimits;
  readonly load: LoadLimits;
  readonly rateLimits: RateLimitSettings;
  readonly graphql: GraphqlSettings;
  readonly streams: StreamSettings;
  readonly webhooks: WebhookSettings;
  readonly audit: AuditSettings;
  /** The source that synchronizes the clock of the machine; undefined means unknown. */
  readonly clockSource: string | undefined;
  /**
   * Reads a secret setting that the domain names, such as the secrets of a sender; undefined if it is unset. Throws
   * `ConfigError` if Annals has a setting of that name, or if its file cannot be read.
   */
  readonly ownSetting: (name: string) => string | undefined;
  readonly drainMs: number;
  /**
   * The part of `drainMs` in which requests are still accepted after the process has announced that it stops.
   */
  readonly drainNoticeMs: number;
};

/** Settings of the verification of the event log. */
export type AuditSettings = {
  readonly dir: string;
  readonly headEveryMs: number;
  /** Where the tree is published as files, if anywhere. */
  readonly treeUrl?: string | undefined;
  /** Whether only administrators may read the tree over HTTP. */
  readonly isTreePrivate?: boolean;
  readonly watchEventsPerSecond: number;
  /** Entries of the log of reads are removed after it; undefined keeps all. */
  readonly keepReadsDays?: number | undefined;
  /** The policy, or the path of its file. */
  readonly witnesses?: string | undefined;
  /** The authority that stamps heads with the time. */
  readonly timeStamps?: { readonly url: string | undefined; readonly everyMs: number };
};

/** The mail server, and the sender of mail. */
type MailSettings = { readonly url: string; readonly from: string };

export type TracingSettings = {
  /** Of the collector; undefined means that there are no traces. */
  readonly endpoint: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string | undefined;
  /** The share of the traces beginning here that is recorded. */
  readonly ratio: number;
};

export type WebhookSettings = {
  readonly perOwnerMax: number;
  readonly guard: GuardRules;
  readonly timeoutMs: number;
  /** The delay after each failure; after the last of them there is no other attempt. */
  readonly retryDelaysMs: readonly number[];
  readonly disableAfterMs: number;
  /** The maximum of concurrent deliveries of a process. */
  readonly concurrency: number;
  readonly keepDays: number;
};

/** Streams of server-sent events. */
type StreamSettings = {
  readonly perOwnerMax: number;
  readonly heartbeatMs: number;
  readonly bufferBytesMax: number;
};

export type RateLimitSettings = {
  /** `postgres:` alone means the database. */
  readonly url: string;
  /** For callers with a verified token. */
  readonly client: RatePolicy;
  /** For everybody else, by address. */
  readonly anonymous: RatePolicy;
};

export type GraphqlSettings = {
  readonly persistedDocuments: 'off' | 'apq' | 'prefer' | 'enforce';
  readonly introspection: boolean;
  /** Services as name=url, or a JSON file of them; undefined means none. */
  readonly compose: string | undefined;
  readonly limits: {
    readonly tokensMax: number;
    readonly depthMax: number;
    readonly aliasesMax: number;
    readonly directivesMax: number;
    readonly rootFieldsMax: number;
    readonly costMax: number;
  };
};
