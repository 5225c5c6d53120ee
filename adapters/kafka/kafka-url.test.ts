import { expect, test } from 'vitest';
import { parseKafkaUrl } from './kafka-url.ts';

test('a broker alone is enough', () => {
  expect(parseKafkaUrl('kafka://localhost:9092')).toEqual({
    brokers: ['localhost:9092'],
    topic: 'annals.changes',
    tls: undefined,
    sasl: undefined,
    retentionMs: 7 * 86_400_000,
    replicas: undefined,
    copy: undefined,
  });
});

test('every option fits into one URL', () => {
  const url =
    'kafka://us%40er:p%2Fw%3Ad@a.example:9092,b.example:9093/changes?ca=/ca.pem&sasl=plain&retention=12h&replicas=3&copy=by-item:12';
  expect(parseKafkaUrl(url)).toEqual({
    brokers: ['a.example:9092', 'b.example:9093'],
    topic: 'changes',
    tls: { ca: '/ca.pem', cert: undefined, key: undefined },
    sasl: { mechanism: 'plain', username: 'us@er', password: 'p/w:d' },
    retentionMs: 12 * 3_600_000,
    replicas: 3,
    copy: { topic: 'by-item', partitions: 12, format: 'annals' },
  });
});

test('credentials use SCRAM by default, and TLS the certificates that the machine trusts', () => {
  expect(parseKafkaUrl('kafka://u:p@h:1?tls=on&retention=forever')).toMatchObject({
    sasl: { mechanism: 'scram-sha-512' },
    tls: { ca: undefined },
    retentionMs: -1,
  });
});

test.each(['annals', 'cloudevents', 'cloudevents_binary'])('the copy can have the format %s', (format) => {
  expect(parseKafkaUrl(`kafka://h:1?copy=by-item:12&format=${format}`)?.copy).toEqual({
    ...{ topic: 'by-item', partitions: 12, format },
  });
});

test.each([
  ['another scheme', 'redis://h:1'],
  ['no host', 'kafka://'],
  ['no port', 'kafka://h'],
  ['an address of IPv6', 'kafka://[::1]:9092'],
  ['one of the brokers without a port', 'kafka://h:1,i'],
  ['a user without a password', 'kafka://u@h:1'],
  ['a mechanism without a user', 'kafka://h:1?sasl=plain'],
  ['an unknown mechanism', 'kafka://u:p@h:1?sasl=gssapi'],
  ['what cannot be decoded', 'kafka://u:%zz@h:1'],
  ['a topic that Kafka does not take', 'kafka://h:1/a%20b'],
  ['a topic within a topic', 'kafka://h:1/a/b'],
  ['an unknown parameter', 'kafka://h:1?ssl=true'],
  ['a parameter twice', 'kafka://h:1?tls=on&tls=off'],
  ['files without TLS', 'kafka://h:1?tls=off&ca=/x'],
  ['a certificate without its key', 'kafka://h:1?cert=/x'],
  ['a time without its unit', 'kafka://h:1?retention=7'],
  ['no time at all', 'kafka://h:1?retention=0d'],
  ['no replica', 'kafka://h:1?replicas=0'],
  ['a copy without partitions', 'kafka://h:1?copy=x'],
  ['an unknown format of the copy', 'kafka://h:1?copy=x:3&format=avro'],
  ['a format without a copy', 'kafka://h:1?format=cloudevents'],
  ['a copy into the topic itself', 'kafka://h:1/x?copy=x:3'],
])('%s is refused', (_what, url) => {
  expect(parseKafkaUrl(url)).toBeUndefined();
});
