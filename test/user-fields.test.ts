import { GraphQLInputObjectType, type GraphQLObjectType, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import type * as z from 'zod';
import { assemble } from '#kernel/assembly/assemble.ts';
import { domain } from '#kernel/declare/domain.ts';
import { line } from '#kernel/declare/fields.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { demandTable, tablesOf } from '#shared/read-model/tables.ts';
import { operationsOf } from '#shared/rest/operations.ts';
import { schemaOf } from '../query/graphql/schema/schema.ts';

/** A domain that adds a field to users, which teachers change themselves, and roles. */
const school = assemble(
  domain({
    name: 'school',
    roles: ['pupil', 'teacher'],
    user: {
      fields: { department: line(80).optional().says('Where they teach.') },
      fieldRights: { changeDepartment: { writes: ['department'], teacher: 'caller' } },
    },
  }),
  [],
);
const operations = operationsOf(school);

test('the events of users contain it', () => {
  const registered = { userId: 1, name: 'Ada', email: null, role: 'teacher', department: 'Sums' };
  const accepts = (data: object) =>
    catalogueOf(school).find('user.registered')?.schema.safeParse(data).success;
  expect(accepts(registered)).toBe(true);
  expect(accepts({ ...registered, role: 'author' })).toBe(false);
  expect(accepts({ ...registered, department: ' ' })).toBe(false);
});

test('the read model has it', () => {
  expect(demandTable(tablesOf(school), 'user').columns).toMatchObject({ department: 'text' });
});

test('REST shows it, and accepts it in forms', () => {
  const bodyOf = (id: string) => operations[id]?.body?.['application/json'] as z.ZodType;
  expect(bodyOf('createUser').parse({ name: 'Ada' })).toEqual({
    name: 'Ada',
    email: null,
    role: 'pupil',
    department: null,
  });
  expect(bodyOf('editUser').parse({ department: 'Sums' })).toEqual({ department: 'Sums' });
  // Not everybody may write it, so it may be omitted and then stays.
  expect(bodyOf('replaceUser').parse({ name: 'Ada', email: null })).toMatchObject({
    name: 'Ada',
    email: null,
    department: undefined,
  });
  const user = { id: 1, name: 'Ada', department: 'Sums', _links: {} };
  expect(operations.getUser.answer).toMatchObject({ schema: { shape: { department: expect.anything() } } });
  expect((operations.getUser.answer as { schema: z.ZodType }).schema.safeParse(user).success).toBe(true);
});

test('GraphQL has it, with the roles of the domain', () => {
  const schema = schemaOf(school);
  expect((schema.getType('User') as GraphQLObjectType).getFields().department?.description).toBe(
    'Where they teach.',
  );
  expect(printSchema(schema)).toMatch(/enum Role \{[^}]*pupil[^}]*teacher[^}]*admin/s);
  const inputs = Object.values(schema.getTypeMap()).filter((type) => type instanceof GraphQLInputObjectType);
  expect(inputs.flatMap((type) => (type.getFields().department ? [type.name] : []))).toEqual([
    'UserInput',
    'UserChanges',
  ]);
});
