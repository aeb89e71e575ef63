import { misspeltVariables } from './misspelt-variables.ts'

const published = ['CARRIERS', 'DATABASE_URL', 'VALIDITY_HOURS', 'PORT', 'HOST', 'LOG_LEVEL', 'PGSSLCERT', 'SENDERS']
const likely = (name: string, value = 'x') => misspeltVariables({ [name]: value }, published)[0]?.likely

test.each([
  ['CARIERS', 'CARRIERS'],
  ['CARRIER', 'CARRIERS'],
  ['CARREIRS', 'CARRIERS'],
  ['carriers', 'CARRIERS'],
  ['DATABSE_URL', 'DATABASE_URL'],
  ['DATABASEURL', 'DATABASE_URL'],
  ['VALIDITY_HOUR', 'VALIDITY_HOURS'],
  ['LOGLEVEL', 'LOG_LEVEL'],
  ['PROT', undefined],
  ['PORTS', 'PORT'],
])('%s looks like %s', (name, wanted) => {
  expect(likely(name)).toBe(wanted)
})

test.each([
  ...['CARRIERS', 'PATH', 'HOME', 'HOSTNAME', 'SHELL', 'LANG', 'TERM', 'USER', 'PWD', 'OLDPWD', 'EDITOR', 'MAIL'],
  ...['PGHOST', 'PGPORT', 'PGSSLCRL', 'PGPASSWORD', 'NODE_ENV', 'NODE_OPTIONS', 'INVOCATION_ID', 'JOURNAL_STREAM'],
  ...['KUBERNETES_PORT', 'KUBERNETES_SERVICE_HOST', 'REDIS_URL', 'TZ', 'SSH_TTY', 'LC_ALL', 'NO_COLOR', 'POD_IP'],
])('%s is one of ours, or somebody else’s', (name) => {
  expect(likely(name)).toBeUndefined()
})

test('a blank one counts as unset, several are told in the order of the alphabet, and no value is told', () => {
  expect(likely('CARIERS', ' ')).toBeUndefined()
  const found = misspeltVariables({ VALIDITY_HOUR: 'secret', CARIERS: 'secret', HOME: '/' }, published)
  expect(found.map(({ name }) => name)).toEqual(['CARIERS', 'VALIDITY_HOUR'])
  expect(JSON.stringify(found)).not.toContain('secret')
})
