import { expect, test } from 'vitest';
import { type BlobAddress, parseBlobUrl } from './blob-url.ts';

const s3 = {
  kind: 's3',
  bucket: 'uploads',
  prefix: '',
  endpoint: undefined,
  region: undefined,
  credentials: undefined,
} as const;

test.each<[string, BlobAddress]>([
  ['file:///var/lib/annals', { kind: 'folder', folder: '/var/lib/annals' }],
  ['file:///with%20space/%C3%A4', { kind: 'folder', folder: '/with space/ä' }],
  ['s3://uploads', s3],
  ['s3://uploads/', s3],
  ['s3://uploads/some/where', { ...s3, prefix: 'some/where/' }],
  ['s3://uploads/some/where/', { ...s3, prefix: 'some/where/' }],
  ['s3://uploads?region=eu-central-1', { ...s3, region: 'eu-central-1' }],
  ['s3://uploads?endpoint=http://127.0.0.1:9000', { ...s3, endpoint: 'http://127.0.0.1:9000' }],
  ['s3://key:a%2Fb%2Bc@uploads', { ...s3, credentials: { accessKeyId: 'key', secretAccessKey: 'a/b+c' } }],
])('%s is an address for blobs', (text, address) => {
  expect(parseBlobUrl(text)).toEqual(address);
});

test.each([
  '',
  'uploads',
  'file:',
  'file:uploads',
  'file:///',
  'file://host/folder',
  'file:///folder?x=1',
  'file:///a%2Fb',
  'file:///a%00b',
  'file:///%zz',
  's3:',
  's3://',
  's3:uploads',
  's3://UPLOADS',
  's3://uploads:9000/',
  's3://uploads?endpoint=ftp://x',
  's3://uploads?endpoint=here',
  's3://uploads?region=EU central',
  's3://uploads?acl=public',
  's3://uploads//a',
  's3://uploads/a b',
  's3://key@uploads',
  's3://key:%zz@uploads',
  'http://uploads',
])('%j is none', (text) => {
  expect(parseBlobUrl(text)).toBeUndefined();
});
