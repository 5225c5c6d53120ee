import { describe, expect, test } from 'vitest';
import type { StreamName, UserId } from '#kernel/base/brands.ts';
import type { RecordedEvent } from '#shared/event-log/event-log.ts';
import { KeyDestroyed } from '#shared/keys/key-store.ts';
import { hashOf } from '../../proof/stored/canonical.ts';
import { ADA, newId, registered, SECRETS, setUp } from '../../test/codec-fixture.ts';
import type { ArticleId, CommentId } from '../../test/publishing-ids.ts';
import type { AnnalsEvent } from './catalogue.ts';
import { MalformedEvent } from './errors.ts';

describe('personal fields', () => {
  test('are nowhere in the stored form', async () => {
    const stored = JSON.stringify(await setUp().store(registered));
    for (const secret of SECRETS) expect(stored).not.toContain(secret);
  });

  test('are null once the key is destroyed, and the hash stays', async () => {
    const { keys, store, decode } = setUp();
    const stored = await store(registered);
    const hash = hashOf(stored);
    await keys.destroy(ADA);
    expect((await decode(stored))?.data).toEqual({ userId: ADA, name: null, email: null, role: 'author' });
    expect(hashOf(stored)).toEqual(hash);
  });

  test('cannot be sealed for an erased person', async () => {
    const { keys, store } = setUp();
    await keys.destroy(ADA);
    await expect(store(registered)).rejects.toThrow(KeyDestroyed);
  });

  test('in clear are refused, because they could never be erased', async () => {
    const { store, decode } = setUp();
    const stored = await store(registered);
    await expect(decode({ ...stored, data: { ...registered.data } })).rejects.toThrow('name is not sealed');
  });

  test('that were erased are refused as content of a new event', async () => {
    const { store } = setUp();
    await expect(
      store({ ...registered, data: { ...registered.data, name: null } } as AnnalsEvent),
    ).rejects.toThrow(MalformedEvent);
  });
});

describe('tampering', () => {
  const comment: AnnalsEvent = {
    type: 'comment.added',
    data: { commentId: 9001 as CommentId, articleId: 8001 as ArticleId, authorId: ADA, text: 'Splendid.' },
  };
  const flipBit = (text: string, index: number) => {
    const bytes = Buffer.from(text.slice(2), 'base64url');
    bytes[index % bytes.length] = (bytes[index % bytes.length] ?? 0) ^ 1;
    return `1.${bytes.toString('base64url')}`;
  };
  const personalOf = ({ data }: RecordedEvent) => data.personal as { subject: UserId; sealed: string };

  test.each<[string, (event: RecordedEvent) => RecordedEvent]>([
    ['the id', (event) => ({ ...event, id: newId() })],
    ['the type', (event) => ({ ...event, type: 'comment.edited' })],
    [
      'the person',
      (event) => ({ ...event, data: { ...event.data, personal: { ...personalOf(event), subject: 7002 } } }),
    ],
    ['the author', (event) => ({ ...event, data: { ...event.data, authorId: 7002 } })],
    ['the stream', (event) => ({ ...event, stream: 'comment-9002' as StreamName })],
    [
      'the format',
      (event) => ({
        ...event,
        data: { ...event.data, personal: { ...personalOf(event), sealed: '2.AAAA' } },
      }),
    ],
    [
      'the length',
      (event) => ({
        ...event,
        data: { ...event.data, personal: { ...personalOf(event), sealed: '1.AAAA' } },
      }),
    ],
    ['the version', (event) => ({ ...event, metadata: { ...event.metadata, version: 2 } })],
    ['a field', (event) => ({ ...event, data: { ...event.data, extra: 1 } })],
  ])('with %s is found', async (_, tamper) => {
    const { keys, store, decode } = setUp();
    await keys.obtain(7002 as UserId);
    const stored = await store(comment);
    await expect(decode(tamper(stored))).rejects.toThrow(MalformedEvent);
  });

  test('is found for any bit of the ciphertext', async () => {
    const { store, decode } = setUp();
    const stored = await store(comment);
    const { subject, sealed } = personalOf(stored);
    for (let index = 0; index < Buffer.from(sealed.slice(2), 'base64url').length; index += 1) {
      const tampered = {
        ...stored,
        data: { ...stored.data, personal: { subject, sealed: flipBit(sealed, index) } },
      };
      await expect(decode(tampered)).rejects.toThrow(MalformedEvent);
    }
  });
});
