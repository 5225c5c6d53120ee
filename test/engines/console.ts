import type { Page } from 'playwright-core';
import { PASSWORD, type People, type Person } from '../../testing/http/people.ts';
import { type RestClient, restClientOf } from '../../testing/http/rest-client.ts';
import type { Installation } from './installation.ts';

/** Fills in the form that the console leads to. */
export const signInOn = async (page: Page, { email }: Pick<Person, 'email'>): Promise<void> => {
  await page.getByLabel('E-mail address').fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

/** A person with an account who becomes an administrator. */
export const signUpOperator = async (installation: Installation, people: People): Promise<Person> => {
  const ask: RestClient = restClientOf(installation);
  const somebody = await people.signUp('Grace');
  await ask('PATCH', `/users/${somebody.userId}`, {
    token: people.administrator.token,
    body: { role: 'admin' },
    headers: { 'if-match': '*' },
  });
  return people.signIn(somebody, 'admin');
};
