import type { Request } from 'express';
import type { UploadField } from '#kernel/decide/upload-fields.ts';
import type { Domain, Kind } from '#kernel/registry/registry.ts';
import type { AggregateOperation } from '#kernel/rest/operation.ts';
import type { ReceivingBlobs } from '#shared/blobs/set-upload.ts';
import type { CommandGateway } from '#shared/command-gateway/command-gateway.ts';

export type UploadDependencies = {
  readonly domain: Domain;
  readonly gateway: CommandGateway;
  readonly blobs: ReceivingBlobs;
  readonly requireIfMatch: boolean;
};

/** A field of an aggregate or item that files are uploaded to. */
export type UploadTarget = {
  readonly operation: AggregateOperation;
  readonly kind: Kind;
  readonly upload: UploadField;
  /** Of the command that sets it. */
  readonly type: string;
  idsOf(request: Request): Ids;
  selfOf(id: number, ids: Ids): string;
};

export type Ids = Readonly<Record<string, number | string>>;
