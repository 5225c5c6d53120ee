import type { Request } from 'express';
import { expect, test } from 'vitest';
import { fileNameIn } from './file-name.ts';

const nameIn = (header: string | undefined) => fileNameIn({ get: () => header } as unknown as Request);

test.each([
  ['attachment; filename="receipt.pdf"', 'receipt.pdf'],
  ['attachment; filename=receipt.pdf', 'receipt.pdf'],
  ['inline;FileName = "a \\"b\\".pdf"', 'a "b".pdf'],
  ["attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe.pdf", 'größe.pdf'],
  ['attachment; filename="x.pdf"; filename*=utf-8\'de\'%C3%A4.pdf', 'ä.pdf'],
  [`attachment; filename="${Buffer.from('größe.pdf').toString('latin1')}"`, 'größe.pdf'],
  ['attachment; filename="gr\u00f6\u00dfe.pdf"', 'größe.pdf'],
])('%s names %s', (header, name) => expect(nameIn(header)).toBe(name));

test.each([undefined, 'attachment', 'attachment; name="x"'])('%s names nothing', (header) =>
  expect(nameIn(header)).toBeUndefined(),
);

test('a name that is not well-formed is refused', () =>
  expect(() => nameIn("attachment; filename*=UTF-8''%ff")).toThrow('not well-formed UTF-8'));
