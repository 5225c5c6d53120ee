// Over 200 lines, because every trace is read from the one collector that is set up here.
import { expect, inject } from 'vitest';
import { formatTraceparent } from '#kernel/base/traceparent.ts';
import { follow } from '../../testing/http/event-source.ts';
import { until } from '../../testing/until.ts';
import { test as base } from '../engines/installation-fixture.ts';
import { type ReceivedSpan, startOtlpReceiver } from '../engines/otlp-receiver.ts';
import {
  linesOf,
  newTrace,
  only,
  spansOf,
  untilExported,
  untilReceivedFromKafka,
} from '../engines/traces.ts';

/** One change, from its request to the delivery to a webhook, as a collector of traces sees it. */

const COLLECTOR_KEY = 'the-key-of-the-collector';
const SECRET_HEADER = 'what-only-the-receiver-knows';
const article = { title: 'On hidden things', body: 'Nobody else is to read this.', tags: [], publish: true };
const isOverKafka = inject('kafkaBroker') !== undefined;

type Sent = { readonly traceparent: string; readonly body?: object; readonly token?: string };

const test = base
  .extend('openReceiver', { scope: 'file' }, () => startOtlpReceiver)
  .extend('receiver', { scope: 'file' }, async ({ openReceiver }, { onCleanup }) => {
    const receiver = await openReceiver();
    onCleanup(() => receiver[Symbol.asyncDispose]());
    return receiver;
  })
  .extend('installationOptions', { scope: 'file' }, ({ receiver }) => ({
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: `x-key=${COLLECTOR_KEY}`,
    },
  }))
  .extend('ada', { scope: 'file' }, ({ people }) => people.signUp('Ada Quill'))
  .extend('rita', { scope: 'file' }, ({ people }) => people.signUp('Rita Reed'))
  .extend('send', { scope: 'file' }, ({ ada, ask }) => async (method: string, path: string, sent: Sent) => {
    const { traceparent, ...asked } = sent;
    const reply = await ask(method, path, { token: ada.token, ...asked, headers: { traceparent } });
    expect(reply.status, JSON.stringify(reply.body)).toBeLessThan(300);
    return { ...reply, id: (reply.body as { id?: number }).id ?? 0 };
  })
  .extend('webhookSecret', { scope: 'file' }, async ({ ada, ask, sink }) => {
    const body = {
      url: `${sink.url}/secret-hook`,
      eventTypes: ['article.published', 'comment.*'],
      headers: { 'x-team': SECRET_HEADER },
    };
    const made = await ask('POST', '/webhooks', { token: ada.token, body });
    expect(made.status).toBe(201);
    return (made.body as { secret: string }).secret;
  })
  .extend('stream', { scope: 'file' }, async ({ installation, rita }, { onCleanup }) => {
    const stream = await follow(`${installation.origin}/events?types=article.published`, {
      headers: { authorization: `Bearer ${rita.token}` },
    });
    onCleanup(() => stream.close());
    await until(stream.lastEventId, Boolean);
    return stream;
  })
  /** The service name of the processes: one has all roles. */
  .extend('serviceOf', { scope: 'file' }, ({ installation }) => (role: string): string => {
    return installation.topology === 'one' ? 'annals' : `annals-${role}`;
  });

test.beforeAll(async ({ receiver, send, stream: _followed, webhookSecret: _registered }) => {
  if (isOverKafka)
    await untilReceivedFromKafka(receiver, (traceparent) =>
      send('POST', '/articles', { traceparent, body: article }),
    );
});

/** Each process interpolates the machine's clock on its own. */
const CLOCKS_DIFFER_MS = 5;
/** The final consequences of a change. */
const ENDS = ['notify subscribers', 'plan webhooks', 'POST webhook'];
const PUBLISHED = { 'annals.event.type': 'article.published' };

test('a change is one trace, from the request to the webhook', async ({
  receiver,
  send,
  serviceOf,
  sink,
  stream,
}) => {
  const { traceId, spanId, traceparent } = newTrace();
  await send('POST', '/articles', { traceparent, body: article });
  const received = (
    await until(
      () => sink.received.filter(({ headers }) => String(headers.traceparent).includes(traceId)),
      ({ length }) => length > 0,
    )
  )[0];
  await stream.data(1);
  const spans = await untilExported(receiver, traceId, [
    'POST /articles',
    'append',
    ...(isOverKafka ? ['publish'] : []),
    'project',
    ...ENDS,
  ]);

  const request = only(spans, 'POST /articles');
  expect(request).toMatchObject({
    service: serviceOf('command'),
    kind: 'server',
    parentSpanId: spanId,
    isFailure: false,
  });
  expect(request.attributes).toMatchObject({
    'http.request.method': 'POST',
    'http.route': '/articles',
    'http.response.status_code': 201,
  });
  const command = only(spans, 'command DraftArticle');
  expect(command).toMatchObject({ service: serviceOf('command'), parentSpanId: request.spanId });
  expect(command.attributes).toMatchObject({ 'annals.outcome': 'done' });
  const append = only(spans, 'append');
  expect(append).toMatchObject({ service: serviceOf('command'), parentSpanId: command.spanId });
  expect(append.attributes).toMatchObject({ 'annals.event.types': ['article.drafted', 'article.published'] });
  const project = only(spans, 'project', PUBLISHED);
  expect(project).toMatchObject({ service: serviceOf('projector'), parentSpanId: command.spanId });

  const published = isOverKafka ? only(spans, 'publish', PUBLISHED) : command;
  if (isOverKafka)
    expect(published).toMatchObject({
      service: serviceOf('projector'),
      kind: 'producer',
      parentSpanId: command.spanId,
    });
  // Subscribers that do not get the change from Kafka in time get it from the log.
  const sources = [command.spanId, published.spanId];
  const notified = only(spans, 'notify subscribers');
  expect(notified).toMatchObject({ service: serviceOf('query'), parentSpanId: expect.toBeOneOf(sources) });
  expect(notified.attributes['annals.feed.readers']).toBe(1);
  const planned = only(spans, 'plan webhooks');
  expect(planned).toMatchObject({
    service: serviceOf('webhook-dispatcher'),
    parentSpanId: expect.toBeOneOf(sources),
  });
  expect(planned.attributes).toMatchObject({ 'annals.webhook.deliveries': 1 });
  const attempt = only(spans, 'POST webhook');
  expect(attempt).toMatchObject({
    service: serviceOf('webhook-dispatcher'),
    kind: 'client',
    parentSpanId: planned.spanId,
  });
  expect(attempt.attributes).toMatchObject({
    'http.response.status_code': 204,
    'annals.outcome': 'delivered',
  });
  expect(received?.headers.traceparent).toBe(formatTraceparent({ ...attempt, isSampled: true }));

  const starts = [request, command, append, project, planned, attempt].map(({ startedAtMs }) => startedAtMs);
  for (const [place, startedAtMs] of starts.entries())
    expect(startedAtMs).toBeGreaterThan((starts[place - 1] ?? 0) - CLOCKS_DIFFER_MS);
});

test('a mutation of GraphQL is a command in the trace of its request, through the gateway', async ({
  installation,
  receiver,
  send,
  serviceOf,
}) => {
  const { traceId, spanId, traceparent } = newTrace();
  const query = 'mutation Draft($input: PostInput!) { createPost(input: $input) { id } }';
  const input = { title: article.title, body: article.body };
  const reply = await send('POST', '/graphql', { traceparent, body: { query, variables: { input } } });
  expect(reply.body).not.toHaveProperty('errors');
  const spans = await untilExported(receiver, traceId, [
    'POST /graphql',
    ...(installation.topology === 'one' ? [] : ['POST /commands']),
    'append',
    'project',
  ]);
  const request = only(spans, 'POST /graphql');
  expect(request).toMatchObject({ service: serviceOf('query'), kind: 'server', parentSpanId: spanId });
  expect(request.attributes).toMatchObject({
    'graphql.operation.type': 'mutation',
    'graphql.operation.name': 'Draft',
  });
  const sender = installation.topology === 'one' ? request : only(spans, 'POST /commands');
  if (sender !== request)
    expect(sender).toMatchObject({ service: 'annals-command', kind: 'server', parentSpanId: request.spanId });
  expect(only(spans, 'command DraftArticle')).toMatchObject({
    service: serviceOf('command'),
    parentSpanId: sender.spanId,
  });
});

test('consequences of an event continue its trace', async ({ receiver, rita, send, serviceOf }) => {
  const { id } = await send('POST', '/articles', { ...newTrace(), body: article });
  await send('POST', `/articles/${id}/comments`, {
    ...newTrace(),
    body: { text: 'Mine' },
    token: rita.token,
  });
  const { traceId, traceparent } = newTrace();
  await send('DELETE', `/articles/${id}`, { traceparent });
  await untilExported(receiver, traceId, ['DELETE /articles/:articleId', 'process-manager']);
  const isEnded = ({ name, attributes }: ReceivedSpan) =>
    name === 'project' && attributes['annals.event.type'] === 'comment.deleted';
  const spans = await until(
    () => spansOf(receiver, traceId),
    (all) => all.some(isEnded) && all.filter(({ name }) => name === 'append').length > 1,
  );
  const command = only(spans, 'command DeleteArticle');
  const followUp = only(spans, 'process-manager');
  expect(followUp).toMatchObject({ service: serviceOf('command'), parentSpanId: command.spanId });
  const appends = spans.filter(({ name }) => name === 'append');
  expect(
    appends.map(({ parentSpanId, attributes }) => [parentSpanId, attributes['annals.event.types']]),
  ).toEqual([
    [command.spanId, ['article.deleted']],
    [followUp.spanId, ['comment.deleted']],
  ]);
  expect(only(spans, 'project', { 'annals.event.type': 'comment.deleted' }).parentSpanId).toBe(
    followUp.spanId,
  );
});

test('a refusal is an answer, not a failure', async ({ ada, ask, receiver }) => {
  const { traceId, traceparent } = newTrace();
  const reply = await ask('POST', '/articles/1/publish', { token: ada.token, headers: { traceparent } });
  expect(reply.status).toBe(404);
  const spans = await untilExported(receiver, traceId, [
    'POST /articles/:articleId/publish',
    'command PublishArticle',
  ]);
  expect(only(spans, 'command PublishArticle')).toMatchObject({
    isFailure: false,
    attributes: { 'annals.outcome': 'article_not_found' },
  });
  expect(spans.some(({ isFailure }) => isFailure)).toBe(false);
});

test('a trace that its sender does not record is not recorded here, but the log names it', async ({
  installation,
  receiver,
  send,
  sink,
}) => {
  const { traceId, traceparent } = newTrace({ isSampled: false });
  const { id } = await send('POST', '/articles', { traceparent, body: article });
  const [received] = await until(
    () => sink.received.filter(({ body }) => body.includes(`"subject":"article-${id}"`)),
    ({ length }) => length > 0,
  );
  expect(received?.headers).not.toHaveProperty('traceparent');
  // Later spans have been exported.
  const later = newTrace();
  await send('POST', '/articles', { traceparent: later.traceparent, body: article });
  await untilExported(receiver, later.traceId, ENDS);
  expect(spansOf(receiver, traceId)).toEqual([]);
  expect(linesOf(installation.printed(), traceId)).toMatchObject([
    { msg: 'request', method: 'POST', path: '/articles', status: 201 },
  ]);
});

test('a request without a valid trace begins one', async ({
  ada,
  ask,
  installation,
  receiver,
  serviceOf,
}) => {
  const requestId = 'without-a-trace';
  await ask('GET', '/articles?note=in-the-query', {
    token: ada.token,
    headers: { 'x-request-id': requestId, traceparent: '00-0-0-01' },
  });
  const [span] = await until(
    () => receiver.spans.filter(({ attributes }) => attributes['annals.request.id'] === requestId),
    ({ length }) => length > 0,
  );
  expect(span).toMatchObject({ name: 'GET /articles', service: serviceOf('query'), parentSpanId: undefined });
  expect(linesOf(installation.printed(), span?.traceId ?? '')).toMatchObject([{ requestId }]);
});

test('spans contain nothing personal or secret', ({
  ada,
  installation,
  receiver,
  rita,
  sink,
  webhookSecret,
}) => {
  const printed = receiver.printed().replaceAll(`"x-key":"${COLLECTOR_KEY}"`, '');
  expect(printed).toContain('"command DraftArticle"');
  const { host } = new URL(sink.url);
  const people = [ada, rita].flatMap(({ name, email, token }) => [
    name,
    email,
    token,
    token.split('.')[2] ?? '',
  ]);
  const hidden = [
    ...people,
    article.title,
    article.body,
    'Mine',
    webhookSecret,
    SECRET_HEADER,
    COLLECTOR_KEY,
    host,
    'secret-hook',
  ];
  const settings = [
    installation.admin.secret,
    installation.settings.MASTER_KEY ?? '',
    'in-the-query',
    'postgres://',
  ];
  expect([...hidden, ...settings].filter((each) => each.length < 4 || printed.includes(each))).toEqual([]);
});
