import { makeValidator, str } from 'envalid'
import { misspeltVariables, readEnvironment } from './environment.ts'
import { listOf, loadVariables, serverVariables, wholeNumber } from './variables.ts'

describe('environment', () => {
  const messageOf = (read: () => unknown): string => {
    try {
      read()
    } catch (error) {
      return (error as Error).message
    }
    throw new Error('nothing was thrown')
  }

  const server = serverVariables(8080)

  test('an empty environment gives the defaults', () => {
    expect(readEnvironment(server, {})).toEqual({
      HOST: '127.0.0.1',
      PORT: 8080,
      DRAIN_SECONDS: 0,
      LOG_LEVEL: 'info',
      DATABASE_URL: undefined,
      DATA_DIR: './data',
    })
  })

  test('a blank variable counts as unset', () => {
    const { PORT, DATABASE_URL, DATA_DIR } = readEnvironment(server, { PORT: '', DATABASE_URL: '  ', DATA_DIR: '\t' })
    expect({ PORT, DATABASE_URL, DATA_DIR }).toEqual({ PORT: 8080, DATABASE_URL: undefined, DATA_DIR: './data' })
  })

  test('values are read with their types, an app adds its own variables, and others are omitted', () => {
    const list = makeValidator<readonly string[]>((input) => input.split(','))
    const environment = readEnvironment(
      { ...server, CARRIERS: list({ default: ['simulator'], desc: 'a list' }), REGION: str({ desc: 'a region' }) },
      { HOST: '::', PORT: '0', LOG_LEVEL: 'silent', CARRIERS: 'a,b', REGION: 'za', HOME: '/home' },
    )
    const port: number = environment.PORT
    const database: string | undefined = environment.DATABASE_URL
    const carriers: readonly string[] = environment.CARRIERS
    expect({ port, database, carriers }).toEqual({ port: 0, database: undefined, carriers: ['a', 'b'] })
    expect(environment.HOST).toBe('::')
    expect(Object.keys(environment)).not.toContain('HOME')
  })

  test('one error names every wrong variable, what was found and what is expected', () => {
    const wrong = { PORT: '80a', HOST: 'http://x', LOG_LEVEL: 'loud' }
    const message = messageOf(() => readEnvironment({ ...server, REGION: str({ desc: 'a region' }) }, wrong))
    expect(message).toContain(
      'PORT is "80a"; expected a TCP port (0 takes any free one): a whole number from 0 to 65535',
    )
    expect(message).toContain('HOST is "http://x"; expected an IP address or a host name of this machine')
    expect(message).toContain('LOG_LEVEL is "loud"; expected one of trace, debug, info, warn, error, fatal, silent')
    expect(message).toContain('REGION is not set; expected a region')
  })

  test('a secret is never shown, whether its variable is named like one or holds a connection string', () => {
    const list = makeValidator<never>(() => {
      throw new Error('wrong')
    })
    const message = messageOf(() =>
      readEnvironment(
        { ...server, CARRIERS: list({ desc: 'carriers' }) },
        { DATABASE_URL: 'mysql://me:hunter2@db/x', CARRIERS: 'smpp://me:hunter2@smsc' },
      ),
    )
    expect(message).not.toContain('hunter2')
    expect(message).toContain('DATABASE_URL is set to something else (its value is not shown); expected the address')
    expect(message).toContain('CARRIERS is "smpp://me:***@smsc"')
  })

  test.each(['-1', '65536', '1e3', '0x10', '80.5', ' 80', '99999999999999999999'])('PORT %j is refused', (PORT) => {
    expect(() => readEnvironment(server, { PORT })).toThrow('PORT')
  })

  test.each(['0', '7', '10'])('a whole number from 0 to 10 may be %s', (N) => {
    const spec = { N: wholeNumber('n', { min: 0, max: 10, byDefault: 3 }) }
    expect(readEnvironment(spec, { N }).N).toBe(Number(N))
  })

  test.each(['postgres://db/x', 'postgresql:///x?host=/tmp', 'postgresql://u@/x'])('DATABASE_URL may be %s', (url) => {
    expect(readEnvironment(server, { DATABASE_URL: url }).DATABASE_URL).toBe(url)
  })

  describe('a list', () => {
    const read = (text: string) => (/^\d+$/.test(text) ? Number(text) : undefined)
    const spec = { LIST: listOf({ description: 'numbers', read, byDefault: [7] }) }

    test.each([
      [{}, [7]],
      [{ LIST: ' ' }, [7]],
      [{ LIST: '3' }, [3]],
      [{ LIST: ' 3 ,1,\t2' }, [3, 1, 2]],
      [{ LIST: '3,1,3' }, [3, 1]],
    ])('%j is %j', (env, values) => {
      expect(readEnvironment(spec, env).LIST).toEqual(values)
    })

    test.each(['3,', ',', '3,,4', '3;4', '3,x'])('%j is refused, with what is expected', (LIST) => {
      expect(messageOf(() => readEnvironment(spec, { LIST }))).toContain(
        `LIST is "${LIST}"; expected numbers, separated by commas`,
      )
    })
  })

  test.each([
    ['https://app.example.com, http://localhost:3000', ['https://app.example.com', 'http://localhost:3000']],
    ['', []],
  ])('CORS_ORIGINS "%s" is a list of origins', (text, expected) => {
    expect(readEnvironment(loadVariables, { CORS_ORIGINS: text }).CORS_ORIGINS).toEqual(expected)
  })

  test.each([
    '*',
    'app.example.com',
    'https://app.example.com/',
    'https://App.example.com',
    'https://a.example:443',
    'ftp://a',
  ])('CORS_ORIGINS "%s" is refused: no browser sends that as its origin', (text) => {
    expect(() => readEnvironment(loadVariables, { CORS_ORIGINS: text })).toThrow(/CORS_ORIGINS/)
  })
})

describe('misspelt variables', () => {
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
  ])('%s looks like %s', (name, expected) => {
    expect(likely(name)).toBe(expected)
  })

  test.each([
    ...['CARRIERS', 'PATH', 'HOME', 'HOSTNAME', 'SHELL', 'LANG', 'TERM', 'USER', 'PWD', 'OLDPWD', 'EDITOR', 'MAIL'],
    ...['PGHOST', 'PGPORT', 'PGSSLCRL', 'PGPASSWORD', 'NODE_ENV', 'NODE_OPTIONS', 'INVOCATION_ID', 'JOURNAL_STREAM'],
    ...['KUBERNETES_PORT', 'KUBERNETES_SERVICE_HOST', 'REDIS_URL', 'TZ', 'SSH_TTY', 'LC_ALL', 'NO_COLOR', 'POD_IP'],
  ])('%s is a known variable, or one of other software', (name) => {
    expect(likely(name)).toBeUndefined()
  })

  test('a blank variable counts as unset, several are reported in alphabetical order, and values are not shown', () => {
    expect(likely('CARIERS', ' ')).toBeUndefined()
    const found = misspeltVariables({ VALIDITY_HOUR: 'secret', CARIERS: 'secret', HOME: '/' }, published)
    expect(found.map(({ name }) => name)).toEqual(['CARIERS', 'VALIDITY_HOUR'])
    expect(JSON.stringify(found)).not.toContain('secret')
  })
})
