import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { receipts } from '../../test/toy/receipts.ts';
import { openApiDocument } from './document.ts';

/** The OpenAPI document of a domain with files that are no pictures. */
const documentOf = (domain: typeof receipts) =>
  openApiDocument({
    domain,
    publicUrl: 'https://annals.example',
    issuerUrl: 'https://issuer.example',
    requireIfMatch: false,
  });
const { paths } = documentOf(receipts) as { readonly paths: Readonly<Record<string, object>> };

test('an independent validator accepts it', async () => {
  const { errors, valid } = await new Validator().validate(structuredClone(documentOf(receipts)));
  expect([errors, valid]).toEqual([undefined, true]);
});

test('the upload of a file has its types, its size and its name', () => {
  expect(paths['/claims/{claimId}/items/{itemId}/invoice']).toMatchObject({
    put: {
      summary: 'Upload the invoice of an item of a claim',
      parameters: expect.arrayContaining([
        expect.objectContaining({ name: 'Content-Disposition', in: 'header' }),
      ]),
      requestBody: {
        description: 'At most 200,000 bytes.',
        required: true,
        content: { 'application/pdf': expect.anything(), 'text/csv': expect.anything() },
      },
    },
  });
});

test('a picture has no name', () => {
  expect(JSON.stringify(paths['/claims/{claimId}/items/{itemId}/receipt'])).not.toContain(
    'Content-Disposition',
  );
});

test('files are read with their types, and an address states their details', () => {
  expect(paths['/uploads/{name}']).toMatchObject({
    get: {
      summary: 'A file that was uploaded',
      responses: {
        200: { content: { 'application/pdf': {}, 'text/csv': {}, 'image/png': {}, 'image/avif': {} } },
      },
    },
  });
  const details = '"sha256":';
  expect(JSON.stringify(paths['/uploads/{name}/address'])).toContain(details);
  const { paths: ofPictures } = documentOf(publishing as never) as { readonly paths: typeof paths };
  expect(JSON.stringify(ofPictures['/uploads/{name}/address'])).not.toContain(details);
});
