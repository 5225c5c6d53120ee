import { expect, test } from 'vitest';
import { fitsType, hasSignature, nameToSave } from './file-type.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const PDF = bytes('%PDF-1.7\n%\xe2\xe3\xcf\xd3');
const ZIP = bytes('PK\x03\x04\x14\0\0\0');
const PNG = bytes('\x89PNG\r\n\x1a\n\0\0\0\rIHDR');
const CSV = bytes('day,amount\n2026-01-01,5\n');

test.each([
  ['application/pdf', PDF],
  ['image/png', PNG],
  ['application/zip', ZIP],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', ZIP],
  ['text/csv', CSV],
  ['text/plain', CSV],
  ['application/json', bytes('{"a":1}')],
  ['application/octet-stream', PDF],
  ['application/vnd.unheard-of', ZIP],
  ['application/vnd.unheard-of', CSV],
])('%s fits its content', (type, head) => expect(fitsType(type, head)).toBe(true));

test.each([
  ['application/pdf', CSV],
  ['application/pdf', bytes(' %PDF-1.7')],
  ['application/pdf', bytes('<html>%PDF-')],
  ['image/png', PDF],
  ['text/csv', PDF],
  ['text/csv', ZIP],
  ['text/plain', bytes('MZ\x90\0\x03')],
  ['image/svg+xml', PNG],
  ['application/vnd.unheard-of', PDF],
])('%s does not fit the content of another type', (type, head) => expect(fitsType(type, head)).toBe(false));

test('types with a signature are known', () => {
  expect(['application/pdf', 'image/webp', 'text/csv'].map(hasSignature)).toEqual([true, true, false]);
});

test.each([
  ['application/pdf', 'receipt.pdf', 'receipt.pdf'],
  ['application/pdf', 'RECEIPT.PDF', 'RECEIPT.PDF'],
  ['application/pdf', 'receipt.pdf.exe', 'receipt.pdf.exe.pdf'],
  ['application/pdf', null, 'file.pdf'],
  ['image/jpeg', 'photo.jpeg', 'photo.jpeg'],
  ['application/vnd.unheard-of', 'data.xyz', 'data.xyz'],
  ['application/vnd.unheard-of', null, 'file'],
])('a %s called %s is saved as %s', (type, name, saved) => expect(nameToSave({ type, name })).toBe(saved));
