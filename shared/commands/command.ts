import * as z from 'zod';
import { DeleteArticle, DraftArticle, EditArticle, PublishArticle, UnpublishArticle } from './article.ts';
import { AddComment, DeleteComment, EditComment } from './comment.ts';
import { DeleteUser, RegisterUser, UpdateUser } from './user.ts';

/** Every command that a client can send, however it came. */
export const Command = z.discriminatedUnion('type', [
  RegisterUser,
  UpdateUser,
  DeleteUser,
  DraftArticle,
  EditArticle,
  PublishArticle,
  UnpublishArticle,
  DeleteArticle,
  AddComment,
  EditComment,
  DeleteComment,
]);
export type Command = Readonly<z.infer<typeof Command>>;

export type CommandType = Command['type'];
