import { expect, test } from 'vitest';
import { publishing } from '#domain/publishing.ts';
import { signUpRoleOf } from '#process/sign-up-role.ts';
import { clientSettingsOf } from '#shared/clients/settings.ts';
import { catalogueOf } from '#shared/events/catalogue.ts';
import { assemble } from '../assembly/assemble.ts';
import { domain } from '../declare/domain.ts';
import { leastRoleOf, rolesOf, roleTextOf } from './roles.ts';

const school = assemble(domain({ name: 'school', roles: { pupil: '', teacher: 'Plans lessons.' } }), []);

test('the roles are those of the domain and the administrator', () => {
  expect(rolesOf(school)).toEqual(['pupil', 'teacher', 'admin']);
  expect(leastRoleOf(school)).toBe('pupil');
  expect(rolesOf(school).map((role) => roleTextOf(school, role))).toEqual([
    'Pupil',
    'Teacher: plans lessons',
    'Administrator: may do everything, including changing and deleting the content of others',
  ]);
});

test('an invitation has a role of the domain', () => {
  const invited = (role: string) =>
    catalogueOf(school).find('invitation.made')?.schema.safeParse({ invitationId: 'x', role }).success;
  expect(['teacher', 'admin', 'author', 'anonymous'].map(invited)).toEqual([true, true, false, false]);
});

test('a service account has a role of the domain', () => {
  const { serviceAccountRole } = clientSettingsOf(school).settings;
  expect(['teacher', 'admin', 'author'].map((role) => serviceAccountRole.safeParse(role).success)).toEqual([
    true,
    true,
    false,
  ]);
});

test.each([
  [school, undefined, 'pupil'],
  [school, 'teacher', 'teacher'],
  [school, 'off', 'off'],
  [publishing, undefined, 'author'],
])(
  'the role after sign-up is that of the operator’s setting, or else that of the domain',
  (of, setting, role) => {
    expect(signUpRoleOf(of, setting)).toBe(role);
  },
);

test.each(['author', 'admin'])('sign-up as %s is refused if that role is not allowed', (role) => {
  expect(() => signUpRoleOf(school, role)).toThrow(
    `SIGNUP is ${role}, but must be off or a role of school: pupil, teacher.`,
  );
});
