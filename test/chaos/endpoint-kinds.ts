import type { UserId } from '#kernel/base/brands.ts';
import type { RegisterWebhook } from '#shared/commands/webhook.ts';
import type { ArticleId } from '../publishing-ids.ts';
import type { Manner } from './receivers.ts';
import { away, refusing, resetting, seldomRefusing, slow, steady, stubborn } from './receivers.ts';
import { type Happened, isVisibleTo, type Viewer } from './visible-events.ts';

type Asked = Pick<RegisterWebhook, 'eventTypes' | 'filter' | 'payload' | 'ordered' | 'limits'>;

/** The owner of a webhook, its subscription, and the behaviour of its receiver. */
export type EndpointKind = {
  readonly name: string;
  readonly owner: Viewer & { readonly userId: UserId; readonly role: 'author' | 'admin' };
  readonly asks: Asked;
  readonly manner: Manner;
  /** The webhook is disabled for a while, and the missed events are replayed. */
  readonly disabledAs?: 'owner' | 'failing';
  /** Among the events visible to its owner. */
  wants(happened: Happened): boolean;
};

type People = {
  readonly ada: UserId;
  readonly bob: UserId;
  readonly admin: UserId;
  readonly article: ArticleId;
};

const THIN = {
  filter: {},
  payload: 'thin',
  ordered: false,
  limits: { ratePerSecond: 1_000, concurrency: 10 },
} as const;
const FULL = { ...THIN, payload: 'full' } as const;

export const endpointKinds = ({
  ada: adaId,
  bob: bobId,
  admin: adminId,
  article,
}: People): readonly EndpointKind[] => {
  const ada = { userId: adaId, role: 'author' } as const;
  const bob = { userId: bobId, role: 'author' } as const;
  const admin = { userId: adminId, role: 'admin' } as const;
  const isOneOf = (types: readonly string[]) => (happened: Happened) => types.includes(happened.type);
  const startsWith = (start: string) => (happened: Happened) => happened.type.startsWith(start);
  const [isArticle, isComment] = [startsWith('article.'), startsWith('comment.')];
  const some = ['article.published', 'comment.edited'];
  return [
    {
      name: 'everything',
      owner: admin,
      asks: { ...THIN, eventTypes: ['*'] },
      manner: steady,
      wants: () => true,
    },
    {
      name: 'articles',
      owner: ada,
      asks: { ...THIN, eventTypes: ['article.*'] },
      manner: refusing,
      wants: isArticle,
    },
    {
      ...{
        name: 'in full',
        owner: bob,
        asks: { ...FULL, eventTypes: ['article.*', 'comment.added'] },
        manner: slow,
        disabledAs: 'failing',
      },
      wants: (happened) => isArticle(happened) || happened.type === 'comment.added',
    },
    {
      name: 'comments',
      owner: admin,
      asks: { ...FULL, eventTypes: ['comment.*'] },
      manner: resetting,
      wants: isComment,
    },
    {
      ...{
        name: 'one article',
        owner: ada,
        asks: { ...THIN, eventTypes: ['*'], filter: { articleId: article }, ordered: true },
      },
      ...{ manner: away, wants: ({ articleId }) => articleId === article },
    },
    {
      name: 'in order',
      owner: bob,
      asks: { ...FULL, eventTypes: some, ordered: true },
      manner: seldomRefusing,
      wants: isOneOf(some),
    },
    {
      ...{
        name: 'one author',
        owner: admin,
        asks: { ...THIN, eventTypes: ['*'], filter: { authorId: adaId }, limits: FEW },
      },
      ...{ manner: away, wants: ({ authorId }) => authorId === adaId, disabledAs: 'owner' },
    },
    {
      name: 'stubborn',
      owner: ada,
      asks: { ...THIN, eventTypes: ['comment.*'] },
      manner: stubborn,
      wants: isComment,
    },
  ];
};

const FEW = { ratePerSecond: 100, concurrency: 2 };

/** A webhook is not notified of its own changes. */
export const shouldReceive = (
  { owner, wants }: EndpointKind,
  webhookId: number,
  happened: readonly Happened[],
): readonly Happened[] => {
  const begins =
    happened.find((each) => each.type === 'webhook.registered' && each.webhookId === webhookId)?.position ??
    0;
  return happened.filter(
    (each) =>
      each.position > begins && each.webhookId !== webhookId && wants(each) && isVisibleTo(owner, each),
  );
};
