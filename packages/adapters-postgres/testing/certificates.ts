import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Returns true if `openssl` is on the path, so that certificates can be made. */
export const canMakeCertificates = (): Promise<boolean> =>
  run('openssl', ['version']).then(
    () => true,
    () => false,
  )

/** Paths of new PEM files, which are valid for a day. */
export interface Certificates {
  readonly authority: string
  readonly stranger: string
  readonly serverCertificate: string
  readonly serverKey: string
}

/** Makes an authority, a certificate that this authority issues for a server at `address`, and another authority. */
export async function makeCertificates(folder: string, address: string): Promise<Certificates> {
  const file = (name: string) => join(folder, name)
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  for (const name of ['authority', 'stranger']) {
    await run('openssl', [
      'req',
      '-x509',
      ...key,
      '-days',
      '1',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      file(`${name}.key`),
      '-out',
      file(`${name}.crt`),
    ])
  }
  await run('openssl', [
    'req',
    ...key,
    '-subj',
    '/CN=database',
    '-keyout',
    file('server.key'),
    '-out',
    file('server.csr'),
  ])
  await writeFile(file('names'), `subjectAltName=IP:${address}\n`)
  const authority = ['-CA', file('authority.crt'), '-CAkey', file('authority.key'), '-CAcreateserial']
  await run('openssl', [
    'x509',
    '-req',
    '-in',
    file('server.csr'),
    ...authority,
    '-days',
    '1',
    '-extfile',
    file('names'),
    '-out',
    file('server.crt'),
  ])
  return {
    authority: file('authority.crt'),
    stranger: file('stranger.crt'),
    serverCertificate: file('server.crt'),
    serverKey: file('server.key'),
  }
}
