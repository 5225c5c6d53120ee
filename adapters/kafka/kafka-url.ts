/** The topic for published changes, and its brokers. */
export type KafkaAddress = {
  readonly brokers: readonly string[];
  /** Has one partition, because a cursor is a position in one order. */
  readonly topic: string;
  /** Files in PEM; undefined means without TLS. */
  readonly tls: KafkaTls | undefined;
  readonly sasl:
    | { readonly mechanism: SaslMechanism; readonly username: string; readonly password: string }
    | undefined;
  /** The retention of topics that we create. */
  readonly retentionMs: number;
  /** Of a topic that we create; undefined means the brokers’ default. */
  readonly replicas: number | undefined;
  /** A second topic with the same messages, for other consumers, with many partitions by aggregate. */
  readonly copy:
    | { readonly topic: string; readonly partitions: number; readonly format: CopyFormat }
    | undefined;
};

/** Our own form, or CloudEvents 1.0 in structured or in binary mode. */
const FORMATS = ['annals', 'cloudevents', 'cloudevents_binary'] as const;
export type CopyFormat = (typeof FORMATS)[number];

type KafkaTls = {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
};
type SaslMechanism = (typeof MECHANISMS)[number];

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** Completes the sentence “CHANGE_STREAM_URL must be …”. */
export const KAFKA_URL_FORM =
  'kafka://[user:password@]host:port[,host:port…][/topic] with tls=on, ca=, cert=, key= (files), sasl=plain|scram-sha-256|scram-sha-512, ' +
  'retention=7d, replicas=3, copy=topic:partitions, or format=annals|cloudevents|cloudevents_binary (of the copy) as parameters';

const PARAMETERS = new Set(['tls', 'ca', 'cert', 'key', 'sasl', 'retention', 'replicas', 'copy', 'format']);
/** A WHATWG URL cannot hold more than one broker. */
const FORM = /^kafka:\/\/(?:([^:@/?#]+):([^@/?#]+)@)?([^@/?#]+)(?:\/([^/?#]*))?(?:\?([^#]*))?$/;
/** Excludes IPv6 addresses: KafkaJS splits them at their first colon. */
const BROKER = /^[A-Za-z0-9._-]+:\d{1,5}$/;
const TOPIC = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,200}$/;
const TOPIC_FALLBACK = 'annals.changes';

/** Undefined if the text is invalid. */
export const parseKafkaUrl = (text: string): KafkaAddress | undefined => {
  const [, username, password, hosts = '', topic = '', query = ''] = FORM.exec(text) ?? [];
  const brokers = hosts.split(',');
  if (!brokers.every((broker) => BROKER.test(broker)) || !(topic === '' || TOPIC.test(topic)))
    return undefined;
  const parameters = new URLSearchParams(query);
  const names = [...parameters.keys()];
  if (!names.every((name) => PARAMETERS.has(name)) || new Set(names).size < names.length) return undefined;
  try {
    const address = {
      brokers,
      topic: topic || TOPIC_FALLBACK,
      tls: tlsOf(parameters),
      sasl: saslOf(parameters, username, password),
      retentionMs: durationOf(parameters.get('retention') ?? '7d'),
      replicas: parameters.has('replicas') ? countOf(parameters.get('replicas'), REPLICAS_MAX) : undefined,
      copy: copyOf(parameters),
    };
    return address.copy?.topic === address.topic ? undefined : address;
  } catch (error) {
    if (error instanceof Malformed || error instanceof URIError) return undefined;
    throw error;
  }
};

class Malformed extends Error {}

const tlsOf = (parameters: URLSearchParams): KafkaTls | undefined => {
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((name) => parameters.get(name) || undefined);
  const mode =
    parameters.get('tls') ?? (ca === undefined && cert === undefined && key === undefined ? 'off' : 'on');
  if ((mode !== 'on' && mode !== 'off') || (cert === undefined) !== (key === undefined))
    throw new Malformed();
  if (mode === 'on') return { ca, cert, key };
  if (ca !== undefined || cert !== undefined) throw new Malformed();
  return undefined;
};

const saslOf = (
  parameters: URLSearchParams,
  username: string | undefined,
  password: string | undefined,
): KafkaAddress['sasl'] => {
  const mechanism = MECHANISMS.find((each) => each === (parameters.get('sasl') ?? 'scram-sha-512'));
  if (mechanism === undefined || (parameters.has('sasl') && username === undefined)) throw new Malformed();
  if (username === undefined || password === undefined) return undefined;
  return { mechanism, username: decodeURIComponent(username), password: decodeURIComponent(password) };
};

const PARTITIONS_MAX = 10_000;
const REPLICAS_MAX = 100;

const copyOf = (parameters: URLSearchParams): KafkaAddress['copy'] => {
  const copy = parameters.get('copy');
  const format = FORMATS.find((each) => each === (parameters.get('format') ?? 'annals'));
  if (format === undefined || (copy === null && parameters.has('format'))) throw new Malformed();
  if (copy === null) return undefined;
  const [topic = '', partitions = '', ...rest] = copy.split(':');
  if (!TOPIC.test(topic) || rest.length > 0) throw new Malformed();
  return { topic, partitions: countOf(partitions, PARTITIONS_MAX), format };
};

const countOf = (text: string | null, maximum: number): number => {
  const count = Number(text);
  if (!/^[1-9]\d*$/.test(text ?? '') || count > maximum) throw new Malformed();
  return count;
};

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const FOR_EVER = -1;

const durationOf = (text: string): number => {
  if (text === 'forever') return FOR_EVER;
  const [, count = '', unit] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  if (unit === undefined || Number(count) === 0) throw new Malformed();
  return Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
};
