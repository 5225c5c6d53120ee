import * as z from 'zod';
import { DeleteArticle, DraftArticle, EditArticle, PatchArticle, PublishArticle, UnpublishArticle } from './article.ts';
import { AddComment, DeleteComment, EditComment, PatchComment } from './comment.ts';
import { DeleteUser, PatchUser, RegisterUser, UpdateUser } from './user.ts';
import {
  DeleteWebhook,
  DisableWebhook,
  EditWebhook,
  EnableWebhook,
  PatchWebhook,
  RedeliverDelivery,
  RedriveWebhook,
  RegisterWebhook,
  ReplaceWebhook,
  ReplayWebhook,
  RotateWebhookSecret,
  TestWebhook,
} from './webhook.ts';

/** Every command that a client can send, however it came. */
export const Command = z.discriminatedUnion('type', [
  RegisterUser,
  UpdateUser,
  PatchUser,
  DeleteUser,
  DraftArticle,
  EditArticle,
  PatchArticle,
  PublishArticle,
  UnpublishArticle,
  DeleteArticle,
  AddComment,
  EditComment,
  PatchComment,
  DeleteComment,
  RegisterWebhook,
  ReplaceWebhook,
  EditWebhook,
  PatchWebhook,
  RotateWebhookSecret,
  EnableWebhook,
  DisableWebhook,
  DeleteWebhook,
  TestWebhook,
  ReplayWebhook,
  RedeliverDelivery,
  RedriveWebhook,
]);
export type Command = Readonly<z.infer<typeof Command>>;

export type CommandType = Command['type'];
