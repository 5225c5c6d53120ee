/** The follower that copies persons into `auth.person`. */
export const DIRECTORY = 'auth-directory';
