// Over 200 lines, because it is one table: the result of each command on each state.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WebhookEvent } from '#kernel/webhook/webhook.ts';
import { HIDDEN_VALUE } from '#shared/commands/webhook.ts';
import { describeDecider } from '../../test/decider-properties.ts';
import { given } from '../../test/given.ts';
import type { ArticleId } from '../../test/publishing-ids.ts';
import {
  askTest,
  at,
  changed,
  deleted,
  disable,
  disabled,
  edit,
  enable,
  enabled,
  erased,
  later,
  mark,
  ownerId,
  register,
  registered,
  remove,
  replace,
  replay,
  rotate,
  rotated,
  webhookId,
} from '../../test/webhook-samples.ts';
import { type WebhookCommand, webhook, webhookStream } from './webhook.ts';

test('the stream', () => expect(webhookStream(webhookId)).toBe('webhook-6'));

describe('registering', () => {
  test('an address', () => given(webhook, []).when(register).yields([registered]));
  test('under the id of a webhook', () => given(webhook, [registered]).when(register).refuses('id_taken'));
  test('under the id of a deleted one', () =>
    given(webhook, [registered, deleted]).when(register).refuses('id_taken'));
  test('with a hidden value, which stands for none', () =>
    given(webhook, [])
      .when({ ...register, headers: { 'X-Team': HIDDEN_VALUE } })
      .refuses('invalid_command'));
});

const changedTo = (payload: 'thin+cloudevents'): WebhookEvent =>
  ({ ...registered, data: { ...registered.data, payload } }) as WebhookEvent;

describe('the format of requests', () => {
  const asCloudEvents = changedTo('thin+cloudevents');
  test('is recorded with the payload, and the default as by former releases', () => {
    given(webhook, [])
      .when({ ...register, format: 'cloudevents' })
      .yields([asCloudEvents]);
    given(webhook, [])
      .when({ ...register, format: 'annals' })
      .yields([registered]);
  });
  test('stays in a replacement without it', () =>
    given(webhook, [asCloudEvents])
      .when(replace({ ordered: true }))
      .yields([changed({ ordered: true })]));
  test('is changed by name, also back', () => {
    given(webhook, [registered])
      .when(edit({ format: 'cloudevents_binary' }))
      .yields([changed({ payload: 'thin+cloudevents_binary' })]);
    given(webhook, [asCloudEvents])
      .when(replace({ format: 'annals' }))
      .yields([changed({ payload: 'thin' })]);
    given(webhook, [registered])
      .when(edit({ format: 'annals' }))
      .yields([]);
    given(webhook, [asCloudEvents])
      .when(edit({ payload: 'full' }))
      .yields([changed({ payload: 'full+cloudevents' })]);
  });
});

describe('editing', () => {
  test('what is named', () =>
    given(webhook, [registered])
      .when(edit({ url: 'https://example.com/2', payload: 'thin' }))
      .yields([changed({ url: 'https://example.com/2' })]));
  test('within limits and filter', () =>
    given(webhook, [registered])
      .when(edit({ limits: { concurrency: 1 }, filter: { articleId: 8 } }))
      .yields([changed({ limits: { ratePerSecond: 50, concurrency: 1 }, filter: { articleId: 8 } })]));
  test('by null, which takes away', () =>
    given(webhook, [registered, changed({ filter: { articleId: 8 as ArticleId } })])
      .when(edit({ filter: { articleId: null }, headers: { 'x-team': null } }))
      .yields([changed({ filter: {}, headers: {} })]));
  test('one header beside others', () =>
    given(webhook, [registered])
      .when(edit({ headers: { 'X-More': 'yes' } }))
      .yields([changed({ headers: { 'X-Team': 'blue', 'X-More': 'yes' } })]));
  test('a header to its hidden value, which leaves it', () =>
    given(webhook, [registered])
      .when(edit({ headers: { 'X-Team': HIDDEN_VALUE } }))
      .changesNothing());
  test('a header that is not there to a hidden value', () =>
    given(webhook, [registered])
      .when(edit({ headers: { 'X-Other': HIDDEN_VALUE } }))
      .refuses('invalid_command'));
  test('to more headers than there may be', () =>
    given(webhook, [registered])
      .when(edit({ headers: Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`X-${n}`, 'x'])) }))
      .refuses('invalid_command'));
  test('what is not there', () => given(webhook, []).when(edit({})).refuses('webhook_not_found'));
  test('what was deleted', () =>
    given(webhook, [registered, deleted]).when(edit({})).refuses('webhook_deleted'));
  test('what was an erased person’s', () =>
    given(webhook, [erased])
      .when(edit({ ordered: true }))
      .refuses('user_deleted'));
});

describe('moving to another origin', () => {
  const url = 'https://other.example/hooks';
  const refused = {
    errors: [{ pointer: '/headers/X-Team', detail: expect.stringContaining('another origin') }],
  };
  const refusal = (command: WebhookCommand) => {
    try {
      return webhook.decide(command, webhook.evolve(webhook.initial, registered));
    } catch (error) {
      return error;
    }
  };
  test.each([
    ['replacing with a hidden value', replace({ url, headers: { 'X-Team': HIDDEN_VALUE } })],
    ['a merge patch with a hidden value', edit({ url, headers: { 'X-Team': HIDDEN_VALUE } })],
    ['a merge patch that names no header', edit({ url })],
    ['a merge patch that names others', edit({ url, headers: { 'X-More': 'yes' } })],
    ['another scheme', edit({ url: 'http://example.com/hooks' })],
    ['another port', edit({ url: 'https://example.com:444/hooks' })],
  ])('refuses hidden values: %s', (_, command) => {
    expect(refusal(command)).toMatchObject({ code: 'invalid_command', details: refused });
  });
  test('keeps headers that are given again', () => {
    const headers = { 'X-Team': 'blue' };
    given(webhook, [registered])
      .when(edit({ url, headers }))
      .yields([changed({ url })]);
    given(webhook, [registered])
      .when(replace({ url, headers: { 'x-team': 'red' } }))
      .yields([changed({ url, headers: { 'x-team': 'red' } })]);
  });
  test('drops headers that are removed', () =>
    given(webhook, [registered])
      .when(edit({ url, headers: { 'X-Team': null } }))
      .yields([changed({ url, headers: {} })]));
});

describe('its scopes', () => {
  const other = ['read:comments', 'manage:webhooks'] as const;
  test.each([
    { url: 'https://example.com/2' },
    { eventTypes: ['comment.*'] },
    { filter: { articleId: 8 } },
    { payload: 'full' },
  ])('are those of the caller who changes %j', (changes) =>
    given(webhook, [registered])
      .when(edit({ ...changes, scopes: other }))
      .yields([changed({ ...changes, scopes: other })]),
  );
  test('stay if only the form of delivery changes', () =>
    given(webhook, [registered])
      .when(
        edit({
          ordered: true,
          description: 'Mine',
          headers: { 'X-More': 'yes' },
          limits: { concurrency: 1 },
          scopes: other,
        }),
      )
      .yields([
        changed({
          ...{ ordered: true, description: 'Mine', headers: { 'X-Team': 'blue', 'X-More': 'yes' } },
          limits: { ratePerSecond: 50, concurrency: 1 },
        }),
      ]));
  test('stay if nothing changes, whoever asks', () =>
    given(webhook, [registered])
      .when(replace({ scopes: other }))
      .changesNothing());
  test('are those that the enabling user may read', () => {
    const disabledWebhook = [registered, disabled('owner', null)];
    given(webhook, disabledWebhook)
      .when({ ...enable, scopes: other } as WebhookCommand)
      .yields([{ ...enabled, data: { ...mark, scopes: other } } as WebhookEvent]);
    given(webhook, disabledWebhook).when(enable).yields([enabled]);
    given(webhook, [
      ...disabledWebhook,
      { ...enabled, data: { ...mark, scopes: other } } as WebhookEvent,
      disabled('owner', null),
    ])
      .when(enable)
      .yields([{ ...enabled, data: { ...mark, scopes: other } } as WebhookEvent]);
  });
});

describe('replacing', () => {
  test('by what is there', () => given(webhook, [registered]).when(replace({})).changesNothing());
  test('the headers as a whole, in whatever letters', () =>
    given(webhook, [registered])
      .when(replace({ headers: { 'x-team': HIDDEN_VALUE, 'X-More': 'yes' } }))
      .yields([changed({ headers: { 'x-team': 'blue', 'X-More': 'yes' } })]));
  test('by nothing where there was something', () =>
    given(webhook, [registered])
      .when(replace({ headers: {} }))
      .yields([changed({ headers: {} })]));
});

describe('rotating the secret', () => {
  test('leaves the old one for a day', () =>
    given(webhook, [registered])
      .when(rotate('b'))
      .yields([rotated('b', later(24))]));
  test('is refused where five sign', () => {
    const four = ['b', 'c', 'd', 'e'].map((sign, n) => rotated(sign, later(n + 1)));
    given(webhook, [registered, ...four])
      .when(rotate('f'))
      .refuses('too_many_secrets');
    given(webhook, [registered, ...four])
      .when(rotate('f', later(1)))
      .yields([rotated('f', later(25))]);
  });
  test('of an erased person', () => given(webhook, [erased]).when(rotate('b')).refuses('user_deleted'));
});

describe('deleting', () => {
  test('a webhook', () => given(webhook, [registered]).when(remove).yields([deleted]));
  test('that of an erased person', () => given(webhook, [erased]).when(remove).yields([deleted]));
  test('a deleted one', () => given(webhook, [registered, deleted]).when(remove).changesNothing());
  test('none', () => given(webhook, []).when(remove).refuses('webhook_not_found'));
});

test('the state of a deleted webhook keeps its owner and no secret', () =>
  given(webhook, [registered, deleted]).is({ status: 'ended', fields: { id: webhookId, owner: ownerId } }));

describe('in general', () => {
  const sign = fc.constantFrom(...'abcdefg');
  const reason = fc.constantFrom('owner' as const, 'failing' as const, 'gone' as const);
  const position = fc.integer({ min: 0, max: 120 });
  const changes = fc.record(
    {
      url: fc.constantFrom('https://example.com/1', 'https://example.com/2'),
      filter: fc.constantFrom({}, { authorId: 1 }, { articleId: 8 }),
      limits: fc.constantFrom({ ratePerSecond: 1, concurrency: 1 }, { ratePerSecond: 50, concurrency: 10 }),
      headers: fc.constantFrom({}, { 'X-Team': HIDDEN_VALUE }, { 'x-team': 'red' }),
    },
    { requiredKeys: [] },
  );
  describeDecider<typeof webhook.initial, WebhookCommand, WebhookEvent>(
    webhook,
    fc.oneof<fc.Arbitrary<WebhookCommand>[]>(
      fc.constant(register),
      changes.map(replace),
      changes.map(edit),
      fc.tuple(sign, fc.constantFrom(at, later(30))).map(([each, when]) => rotate(each, when)),
      fc.constant(enable),
      fc.tuple(reason, position).map(([each, head]) => disable(each, head)),
      fc.constantFrom(remove, askTest),
      fc
        .tuple(fc.option(position, { nil: undefined }), fc.option(position, { nil: undefined }), fc.uuid())
        .map(
          ([from, to, id]) =>
            ({
              ...replay(from, to),
              requestId: id,
            }) as WebhookCommand,
        ),
    ),
  );
});
