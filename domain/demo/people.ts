/** Whom a demo is about. The part before the @ is for an address at which nobody can ever be (RFC 2606). */
export type Name = { readonly name: string; readonly mailbox: string };

/** Who edit the magazine, as administrators. */
export const EDITORS: readonly Name[] = [
  { name: 'Nadia Okonkwo', mailbox: 'nadia.okonkwo' },
  { name: 'Tomás Arriaga', mailbox: 'tomas.arriaga' },
  { name: 'Ingrid Sæther', mailbox: 'ingrid.saether' },
];

/** Who changes what is not theirs, and who wrote it. */
export const WRITERS_OF_INCIDENT: readonly Name[] = [
  { name: 'Jakub Wiśniewski', mailbox: 'jakub.wisniewski' },
  { name: 'Caoimhe Ní Bhriain', mailbox: 'caoimhe.nibhriain' },
];

/** Who else may write for it. */
export const WRITERS: readonly Name[] = [
  { name: '山田 葵', mailbox: 'aoi.yamada' },
  { name: 'Олена Шевчук', mailbox: 'olena.shevchuk' },
  { name: 'ليلى حداد', mailbox: 'layla.haddad' },
  { name: 'Kwabena Mensah-Boateng', mailbox: 'kwabena.mensah' },
  { name: 'Zoë van der Linde', mailbox: 'zoe.vanderlinde' },
  { name: 'Mateus Figueiredo', mailbox: 'mateus.figueiredo' },
  { name: 'Ananya Krishnamurthy', mailbox: 'ananya.k' },
  { name: 'Nguyễn Thị Lan', mailbox: 'lan.nguyen' },
];

/** Who read it, and have something to say. */
export const READERS: readonly Name[] = [
  { name: 'Ruth Abernathy', mailbox: 'ruth.abernathy' },
  { name: 'Κωνσταντίνος Παπαδάκης', mailbox: 'kostas.papadakis' },
  { name: '김서연', mailbox: 'seoyeon.kim' },
  { name: 'Bheki Dlamini', mailbox: 'bheki.dlamini' },
  { name: 'מיכל ברק', mailbox: 'michal.barak' },
  { name: 'Aroha Tūhoe', mailbox: 'aroha.tuhoe' },
  { name: 'Søren Kjærgaard', mailbox: 'soeren.kjaergaard' },
  { name: 'अर्जुन मेहता', mailbox: 'arjun.mehta' },
  { name: 'Chiamaka Eze', mailbox: 'chiamaka.eze' },
  { name: 'Émile Desrosiers', mailbox: 'emile.desrosiers' },
  { name: 'Gülşen Yıldız', mailbox: 'gulsen.yildiz' },
  { name: '王小梅', mailbox: 'xiaomei.wang' },
  { name: 'Priscila Amaral', mailbox: 'priscila.amaral' },
  { name: 'Leopold Graf', mailbox: 'leopold.graf' },
];
