import type { ArticleId, CommentId, UserId } from '#shared/brands.ts';
import type { Role } from './fields.ts';

/** For what reads events of the domain by name: the shapes that follow from its declaration, with `null` for what was erased. */
type User = { readonly userId: UserId };
type Profile = { readonly name: string | null; readonly email: string | null; readonly role: Role };
type Article = { readonly articleId: ArticleId; readonly authorId: UserId };
type Content = { readonly title: string; readonly body: string; readonly tags: readonly string[]; readonly cover: string | null };
type Comment = { readonly commentId: CommentId; readonly articleId: ArticleId; readonly authorId: UserId };

export type DeclaredEvents = {
  readonly 'user.registered': User & Profile;
  readonly 'user.updated': User & Partial<Profile>;
  readonly 'user.deleted': User;
  readonly 'user.email_abandoned': User & { readonly claim: string };
  readonly 'article.drafted': Article & Content;
  readonly 'article.edited': Article & Partial<Content>;
  readonly 'article.published': Article;
  readonly 'article.unpublished': Article;
  readonly 'article.deleted': Article;
  readonly 'comment.added': Comment & { readonly text: string | null };
  readonly 'comment.edited': Comment & { readonly text: string | null };
  readonly 'comment.deleted': Comment;
};
