import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SealedSecret } from '@gateway/core/webhooks'
import { secretBox } from './secret-box.ts'
import { keysOfFolder, readSecretsKey } from './secrets-key.ts'

const newKey = () => randomBytes(32).toString('base64')
const folders: string[] = []
const newFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-secrets-'))
  folders.push(folder)
  return folder
}
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })))

const boxOf = (...keys: readonly string[]) => secretBox({ keys, folder: '/nowhere' })

test('a signing secret is whsec_ and the base64 of 32 random bytes', () => {
  const box = boxOf(newKey())
  const secrets = [box.newSigningSecret(), box.newSigningSecret()]
  for (const secret of secrets) {
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32)
  }
  expect(secrets[0]).not.toBe(secrets[1])
})

test('an encrypted secret is decrypted with the same key, reveals nothing, and differs each time', () => {
  const box = boxOf(newKey())
  const secret = box.newSigningSecret()
  const [one, other] = [box.seal(secret), box.seal(secret)]
  expect(one).not.toBe(other)
  expect(one).not.toContain(secret.slice(6, 20))
  expect([box.open(one), box.open(other), box.isOld(one)]).toEqual([secret, secret, false])
})

test('every change of an encrypted secret is detected', () => {
  const box = boxOf(newKey())
  const sealed = box.seal('whsec_abc')
  for (let at = 0; at < sealed.length; at += 1) {
    const other = sealed[at] === 'A' ? 'B' : 'A'
    const changed = sealed.slice(0, at) + other + sealed.slice(at + 1)
    // The last base64url character has unused bits, so a change of it may decode to the same bytes.
    if (
      Buffer.from(changed.split('.')[2] ?? '', 'base64url').equals(
        Buffer.from(sealed.split('.')[2] ?? '', 'base64url'),
      ) &&
      at > 14
    )
      continue
    expect(() => box.open(changed as SealedSecret)).toThrow()
  }
  for (const text of ['', 'x', sealed.slice(0, 30), `${sealed}.`])
    expect(() => box.open(text as SealedSecret)).toThrow()
})

test('during a key rotation the new key encrypts and the old one still decrypts, until everything is encrypted again', () => {
  const [older, newer] = [newKey(), newKey()]
  const sealed = boxOf(older).seal('whsec_abc')
  const both = boxOf(newer, older)
  expect([both.open(sealed), both.isOld(sealed)]).toEqual(['whsec_abc', true])
  const resealed = both.seal(both.open(sealed))
  expect([boxOf(newer).open(resealed), boxOf(newer).isOld(resealed)]).toEqual(['whsec_abc', false])
  expect(() => boxOf(newer).open(sealed)).toThrow(/this process has only .*SECRETS_KEY/)
})

test('without a key a file is created at first use, readable only by its owner', () => {
  const folder = join(newFolder(), 'data')
  const box = secretBox({ keys: [], folder })
  expect(existsSync(folder)).toBe(false)
  const sealed = box.seal('whsec_abc')
  expect(statSync(join(folder, 'secrets.key')).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['secrets.key'])
  expect(secretBox({ keys: [], folder }).open(sealed)).toBe('whsec_abc')
  expect(boxOf(readFileSync(join(folder, 'secrets.key'), 'utf8').trim()).open(sealed)).toBe('whsec_abc')
})

test('decryption never creates the file: it reports that there is none, and uses one that is added later', () => {
  const folder = newFolder()
  const box = secretBox({ keys: [], folder })
  const key = newKey()
  const sealed = boxOf(key).seal('whsec_abc')
  expect(() => box.open(sealed)).toThrow(/SECRETS_KEY is not set, and .*secrets\.key does not exist\. Set SECRETS_KEY/)
  expect(box.isOld(sealed)).toBe(true)
  expect(readdirSync(folder)).toEqual([])
  writeFileSync(join(folder, 'secrets.key'), key, { mode: 0o600 })
  expect([box.open(sealed), box.isOld(sealed)]).toEqual(['whsec_abc', false])
})

test('processes that start concurrently end with the same key', async () => {
  const folder = newFolder()
  const made = new URL('../dist/index.js', import.meta.url).href
  const code = `const { secretBox } = await import(${JSON.stringify(made)})
    process.stdin.once('data', () => { console.log(secretBox({ keys: [], folder: ${JSON.stringify(folder)} }).seal('x')); process.exit() })
    console.log('ready')`
  const lines = await Promise.all(
    [1, 2, 3, 4].map(
      () =>
        new Promise<string>((resolve) => {
          const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
            stdio: ['pipe', 'pipe', 'inherit'],
          })
          let text = ''
          child.stdout.setEncoding('utf8').on('data', (piece: string) => {
            if (text === '') child.stdin.write('go')
            text += piece
          })
          child.on('close', () => resolve(text.trim().split('\n')[1] ?? ''))
        }),
    ),
  )
  const box = secretBox({ keys: [], folder })
  for (const line of lines) expect(box.open(line as SealedSecret)).toBe('x')
  expect(readdirSync(folder)).toEqual(['secrets.key'])
})

test('a file that others can read, or with other content, is refused with advice', () => {
  const folder = newFolder()
  const path = join(folder, 'secrets.key')
  secretBox({ keys: [], folder }).seal('x')
  for (const mode of [0o644, 0o640, 0o602]) {
    chmodSync(path, mode)
    expect(() => secretBox({ keys: [], folder }).seal('x')).toThrow(/chmod 600/)
  }
  chmodSync(path, 0o600)
  for (const text of ['', 'x', `${newKey()}\nx`]) {
    writeFileSync(path, text)
    expect(() => secretBox({ keys: [], folder }).seal('x')).toThrow(/must hold keys/)
  }
})

test('a key is 32 bytes in base64, base64url or hexadecimal', () => {
  const bytes = randomBytes(32)
  for (const form of ['base64', 'base64url', 'hex'] as const)
    expect(readSecretsKey(bytes.toString(form))).toBe(bytes.toString('base64'))
  for (const text of ['', 'password', bytes.toString('hex').slice(1), `${bytes.toString('base64')}=`, ' '.repeat(43)])
    expect(readSecretsKey(text)).toBeUndefined()
})

test('a start checks an existing key file, and creates none', () => {
  const own = newFolder()
  keysOfFolder(own)
  expect(readdirSync(own)).toEqual([])
  const path = join(own, 'secrets.key')
  writeFileSync(path, `${'ab'.repeat(32)}\n`, { mode: 0o600 })
  keysOfFolder(own)
  chmodSync(path, 0o644)
  expect(() => keysOfFolder(own)).toThrow(/secrets\.key can be used by others than its owner \(mode 644\): chmod 600/)
})
