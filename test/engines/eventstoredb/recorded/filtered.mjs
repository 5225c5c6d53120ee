// Records the answers of a server to reads of $all with a filter by stream prefix, as facts without ids and absolute positions.
// The client's readAll has no filter, but the protocol has. Run from the project's root, with --address 127.0.0.1:2113
import { createRequire } from 'node:module'; import { parseArgs } from 'node:util'; import { randomUUID } from 'node:crypto'; import { writeFileSync } from 'node:fs';
const require = createRequire(`${process.cwd()}/package.json`);
const grpc = require('@grpc/grpc-js'); const { EventStoreDBClient, jsonEvent, streamNameFilter, START } = require('@eventstore/db-client');
const { StreamsClient } = require('@eventstore/db-client/generated/streams_grpc_pb.js'); const { ReadReq } = require('@eventstore/db-client/generated/streams_pb.js'); const { Empty, UUID } = require('@eventstore/db-client/generated/shared_pb.js');
const { values: o } = parseArgs({ options: { address: { type: 'string' }, out: { type: 'string' } } });
const raw = new StreamsClient(o.address, grpc.credentials.createInsecure()); const client = EventStoreDBClient.connectionString(`esdb://${o.address}?tls=false`);
const run = randomUUID().slice(0, 8); const ours = `p${run}.`; const foreign = `q${run}-`;
const read = ({ from, count, backwards = false, prefix = ours, window, subscribe = false, interval = 1 }) => {
  const options = new ReadReq.Options(); const all = new ReadReq.Options.AllOptions();
  if (from === undefined) all.setStart(new Empty()); else { const p = new ReadReq.Options.Position(); p.setCommitPosition(String(from)); p.setPreparePosition(String(from)); all.setPosition(p); }
  options.setAll(all); options.setReadDirection(backwards ? 1 : 0); options.setResolveLinks(false);
  if (subscribe) options.setSubscription(new ReadReq.Options.SubscriptionOptions()); else options.setCount(String(count));
  const f = new ReadReq.Options.FilterOptions(); const e = new ReadReq.Options.FilterOptions.Expression(); e.setPrefixList([prefix]); f.setStreamIdentifier(e);
  if (window) f.setMax(window); else f.setCount(new Empty()); f.setCheckpointintervalmultiplier(interval); options.setFilter(f);
  const u = new ReadReq.Options.UUIDOption(); u.setString(new Empty()); options.setUuidOption(u);
  const req = new ReadReq(); req.setOptions(options); return raw.read(req);
};
const take = (call, ms = 15_000, until = () => false) => new Promise((done) => { const got = { events: [], checkpoints: [], other: {} }; const started = performance.now(); const timer = setTimeout(() => { got.end = 'still open'; call.cancel(); done(got); }, ms);
  call.on('data', (m) => { if (m.hasEvent()) { const r = m.getEvent().getEvent(); got.events.push({ stream: Buffer.from(r.getStreamIdentifier().getStreamName_asU8()).toString(), position: Number(r.getCommitPosition()), type: r.getMetadataMap().get('type') }); } else if (m.hasCheckpoint()) got.checkpoints.push(Number(m.getCheckpoint().getCommitPosition())); else { const k = m.hasConfirmation() ? 'confirmation' : Object.keys(m.toObject()).find((x) => m.toObject()[x] !== undefined) ?? '?'; got.other[k] = (got.other[k] ?? 0) + 1; } if (until(got)) { clearTimeout(timer); got.end = 'enough'; got.ms = performance.now() - started; call.cancel(); done(got); } });
  call.on('error', (error) => { if (got.end) return; clearTimeout(timer); got.end = `${error.code} ${error.details}`; got.ms = performance.now() - started; done(got); }); call.on('end', () => { if (got.end) return; clearTimeout(timer); got.end = 'ended'; got.ms = performance.now() - started; done(got); }); });
const facts = {}; const say = (name, fact) => { facts[name] = fact; console.log(name, JSON.stringify(fact)); };
const one = async (stream) => Number((await client.appendToStream(stream, [jsonEvent({ type: 'made', data: { n: 1 }, metadata: { by: 'us' } })])).position.commit);
const many = async (n) => { for (let i = 0; i < n; i += 500) await client.appendToStream(`${foreign}${i}`, Array.from({ length: Math.min(500, n - i) }, () => jsonEvent({ type: 'theirs', data: { x: 'y'.repeat(40) } }))); };
const mine = []; mine.push(await one(`${ours}a-1`)); mine.push(await one(`${ours}a-1`)); await many(3_000); mine.push(await one(`${ours}b-2`)); await many(30_000); mine.push(await one(`${ours}a-1`)); await many(1_000);
const places = (events) => events.map(({ position }) => mine.indexOf(position));
const shape = async (name, options, ms, until) => { const g = await take(read(options), ms, until); say(name, { events: places(g.events), other: g.other, end: g.end }); return g; };
await shape('page: forwards from the start, 10', { count: 10 });
await shape('page: forwards from the start, 2', { count: 2 });
await shape('page: forwards from a record of ours (is it inclusive?)', { from: mine[1], count: 10 });
await shape('page: forwards from the last of ours', { from: mine[3], count: 10 });
await shape('page: forwards, a window of 32 over 30,000 foreign records (is it cut short?)', { from: mine[2], count: 10, window: 32 });
await shape('page: backwards from the end of ours', { from: mine[3] + 1_000_000, count: 10, backwards: true });
await shape('page: backwards from a record of ours', { from: mine[2], count: 10, backwards: true });
await shape('page: a position inside a record', { from: mine[2] + 1, count: 10 });
await shape('page: a prefix that nobody has', { count: 10, prefix: `nobody-${run}.` });
await shape('page: a count of 0', { count: 0 });
const t = await take(read({ from: mine[2], count: 10 })); const u = client.readAll({ fromPosition: { commit: BigInt(mine[2]), prepare: BigInt(mine[2]) }, maxCount: 40_000 }); const b = performance.now(); let n = 0; for await (const _ of u) n += 1; console.log('(not a fact) filtered page over 31,000 foreign records:', t.ms.toFixed(0), 'ms; unfiltered read of', n, 'records:', (performance.now() - b).toFixed(0), 'ms');
const s = await take(read({ subscribe: true, window: 1_000, interval: 1 }), 8_000, (g) => g.events.length >= 4 && g.checkpoints.length > 3);
say('subscription from the start, window 1,000: events', { events: places(s.events), other: s.other, end: s.end, checkpointsAscend: s.checkpoints.every((c, i) => i === 0 || c >= s.checkpoints[i - 1]), checkpointsBeyondOurLast: s.checkpoints.at(-1) > mine[3] });
const live = take(read({ subscribe: true, from: mine[3], window: 32, interval: 1 }), 12_000); await new Promise((r) => setTimeout(r, 1_500)); await many(2_000); const late = await one(`${ours}c-3`); await many(500); const l = await live;
say('subscription from our last (exclusive?), live, others write 2,500', { events: l.events.map((e) => (e.position === late ? 'the new one' : mine.indexOf(e.position))), other: l.other, end: l.end, checkpoints: l.checkpoints.length > 0, aCheckpointBeyondTheNewOne: l.checkpoints.some((c) => c > late) });
const typed = client.subscribeToAll({ fromPosition: START, filter: streamNameFilter({ prefixes: [ours], maxSearchWindow: 1_000, checkpointInterval: 1 }) }); const seen = []; for await (const { event } of typed) { seen.push(mine.indexOf(Number(event.position.commit))); if (seen.length === 4) break; } say('the client’s own filtered subscription', seen);
if (o.out) writeFileSync(o.out, `${JSON.stringify(facts, null, 1)}\n`);
process.exit(0);
