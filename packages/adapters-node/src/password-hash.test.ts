import type { PasswordHash } from '@gateway/core'
import { hashOf, hashOfNothing, isPasswordOf } from './password-hash.ts'

test('a hash tells its method and cost, has a salt of its own, and opens to its password only', async () => {
  const hash = await hashOf('correct horse')
  expect(hash).toMatch(/^\$scrypt\$ln=14,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(await hashOf('correct horse')).not.toBe(hash)
  expect(await isPasswordOf(hash, 'correct horse')).toBe(true)
  for (const other of ['Correct horse', 'correct horse ', '', 'x'.repeat(100_000)]) {
    expect(await isPasswordOf(hash, other)).toBe(false)
  }
})

test('a hash written at another cost is checked at that cost', async () => {
  // RFC 7914, section 12: "pleaseletmein", "SodiumChloride", N = 16384, r = 8, p = 1, 64 bytes.
  const key =
    '7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887'
  const encoded = Buffer.from(key, 'hex').toString('base64').replaceAll('=', '')
  const salt = Buffer.from('SodiumChloride').toString('base64').replaceAll('=', '')
  expect(await isPasswordOf(`$scrypt$ln=14,r=8,p=1$${salt}$${encoded}` as PasswordHash, 'pleaseletmein')).toBe(true)
})

test('a stored text that is no hash of ours is our own trouble, and is not shown', async () => {
  const good = await hashOf('a')
  for (const stored of ['', 'plain secret', good.replace('ln=14', 'ln=31'), good.slice(0, 30)]) {
    await expect(isPasswordOf(stored as PasswordHash, 'a')).rejects.toThrow(/^a stored password hash cannot be read$/)
  }
})

test('nobody has the password of the hash that unknown users are checked against', async () => {
  expect(await isPasswordOf(hashOfNothing(), '')).toBe(false)
  expect(hashOfNothing()).not.toBe(hashOfNothing())
})
