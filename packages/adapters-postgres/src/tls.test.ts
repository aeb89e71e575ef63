import { chmod, chown, mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeCluster, startEmbeddedPostgres } from '@gateway/embedded-postgres'
import { canMakeCertificates, makeCertificates, type Certificates } from '../testing/certificates.ts'
import { createClient } from './client.ts'
import { serverAddress } from './server-address.ts'

// The port of the embedded server is fixed, so the server listens on loopback addresses of its own. Linux allows this.
const can = process.platform === 'linux' && (await canMakeCertificates())
if (!can) console.warn('skipped: TLS to the database, which needs Linux, and openssl to make certificates with')

interface Open {
  readonly certificates: Certificates
  /** Address for which the certificate is valid. */
  readonly named: string
  readonly other: string
  close(): Promise<void>
}

;(can ? describe : describe.skip)('a server with a certificate of its own authority', () => {
  let open: Open

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gateway-tls-'))
    await chmod(folder, 0o755)
    // Address of this process only, because other tests listen on the same machine.
    const own = `${1 + (Math.floor(process.pid / 254) % 254)}.${1 + (process.pid % 254)}`
    const [named = '', other = ''] = [1, 2].map((last) => `127.${own}.${last}`)
    const certificates = await makeCertificates(folder, named)
    const hba = join(folder, 'pg_hba.conf')
    await writeFile(hba, 'local all all trust\nhost all all 127.0.0.0/8 trust\n')
    const dataDir = join(folder, 'data')
    // The key must belong to the user that runs PostgreSQL, which is known only once a cluster exists.
    await (await startEmbeddedPostgres({ dataDir, settings: { fsync: 'off' } })).stop()
    const owner = await stat(join(dataDir, 'postgres'))
    await chown(certificates.serverKey, owner.uid, owner.gid)
    await chmod(certificates.serverKey, 0o600)
    const server = await startEmbeddedPostgres({
      dataDir,
      settings: {
        fsync: 'off',
        listen_addresses: `${named},${other}`,
        hba_file: hba,
        ssl: 'on',
        ssl_cert_file: certificates.serverCertificate,
        ssl_key_file: certificates.serverKey,
      },
    })
    const close = async () => {
      await server.stop()
      await removeCluster(dataDir)
      await rm(folder, { recursive: true, force: true })
    }
    open = { certificates, named, other, close }
  }, 60_000)
  afterAll(() => open.close(), 30_000)

  async function isEncrypted(which: 'named' | 'other', query: string, env = {}): Promise<boolean> {
    const url = `postgres://gateway@${open[which]}:5432/gateway${query}`
    const client = createClient(serverAddress(url, { HOME: '/nonexistent', ...env }), { connectionTimeoutMillis: 5000 })
    try {
      await client.connect()
      const { rows } = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()')
      return rows[0]?.ssl ?? false
    } finally {
      await client.end().catch(() => undefined)
    }
  }

  test.each([
    ['', true],
    ['?sslmode=disable', false],
    ['?sslmode=allow', true],
    ['?sslmode=prefer', true],
    ['?sslmode=require', true],
  ])('with %j it is encrypted: %j, whoever signed the certificate', async (query, encrypted) => {
    expect(await isEncrypted('other', query)).toBe(encrypted)
  })

  test.each(['require', 'verify-ca', 'verify-full'])('%s accepts its authority and no other', async (mode) => {
    const by = (file: string) => `?sslmode=${mode}&sslrootcert=${encodeURIComponent(file)}`
    expect(await isEncrypted('named', by(open.certificates.authority))).toBe(true)
    await expect(isEncrypted('named', by(open.certificates.stranger))).rejects.toThrow(/certificate|issuer/)
  })

  test('only verify-full checks the name of the server', async () => {
    const by = (mode: string) => `?sslmode=${mode}&sslrootcert=${encodeURIComponent(open.certificates.authority)}`
    expect(await isEncrypted('other', by('verify-ca'))).toBe(true)
    await expect(isEncrypted('other', by('verify-full'))).rejects.toThrow('altnames')
  })

  test('verify-full without an authority trusts those of node, and not this one', async () => {
    await expect(isEncrypted('named', '?sslmode=verify-full')).rejects.toThrow(/certificate/)
  })

  test('the environment applies where the URL has no option', async () => {
    const env = { PGSSLMODE: 'verify-ca', PGSSLROOTCERT: open.certificates.authority }
    expect(await isEncrypted('other', '', env)).toBe(true)
    expect(await isEncrypted('other', '?sslmode=disable', env)).toBe(false)
  })
})
