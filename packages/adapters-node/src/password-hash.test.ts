import { createHash, scryptSync } from 'node:crypto'
import type { PasswordHash } from '@gateway/core/people'
import { hashCosts, hashOf, hashOfNothing, isCheaperThan, isPasswordOf } from './password-hash.ts'

test('a hash contains its method, cost and salt, and matches only its password', async () => {
  const hash = await hashOf('correct horse')
  expect(hash).toMatch(/^\$scrypt-sha256\$ln=14,r=8,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  expect(await hashOf('correct horse')).not.toBe(hash)
  expect(await isPasswordOf(hash, 'correct horse')).toBe(true)
  for (const other of ['Correct horse', 'correct horse ', '', 'correct horse\0', 'x'.repeat(100_000)]) {
    expect(await isPasswordOf(hash, other)).toBe(false)
  }
})

test('a hash with another cost is checked at that cost', async () => {
  const salt = Buffer.from('a salt of then')
  const key = scryptSync(createHash('sha256').update('sesame').digest(), salt, 64, { N: 2 ** 10, r: 4, p: 3 })
  const encoded = [salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', '')).join('$')
  const stored = `$scrypt-sha256$ln=10,r=4,p=3$${encoded}` as PasswordHash
  expect(await isPasswordOf(stored, 'sesame')).toBe(true)
  expect(await isPasswordOf(stored, 'Sesame')).toBe(false)
})

test('an invalid stored hash is an internal error, and its text is not shown', async () => {
  const good = await hashOf('a')
  for (const stored of ['', 'plain secret', good.replace('ln=14', 'ln=31'), good.slice(0, 30)]) {
    await expect(isPasswordOf(stored as PasswordHash, 'a')).rejects.toThrow(/^a stored password hash cannot be read$/)
  }
})

test('no password matches the hash against which unknown users are checked', async () => {
  expect(await isPasswordOf(hashOfNothing(), '')).toBe(false)
  expect(hashOfNothing()).not.toBe(hashOfNothing())
})

test('a hash for signing in has parameters that OWASP recommends: N=2^15, r=8, p=3', async () => {
  const hash = await hashOf('correct horse', hashCosts['sign-in'])
  expect(hash).toMatch(/^\$scrypt-sha256\$ln=15,r=8,p=3\$/)
  expect(await isPasswordOf(hash, 'correct horse')).toBe(true)
  expect(await isPasswordOf(hash, 'Correct horse')).toBe(false)
  expect(isCheaperThan(hash, hashCosts['sign-in'])).toBe(false)
  expect(isCheaperThan(await hashOf('correct horse'), hashCosts['sign-in'])).toBe(true)
})

test('checks for signing in take the same time for a cheap hash, an expensive one, and an unknown user', async () => {
  const [least, most] = [
    { ln: 12, r: 8, p: 1 },
    { ln: 13, r: 8, p: 3 },
  ] as const
  const cheap = await hashOf('right', least)
  const kinds = { cheap, dear: await hashOf('right', most), nobody: hashOfNothing(least) }
  const times = { cheap: [] as number[], dear: [] as number[], nobody: [] as number[] }
  for (let i = 0; i < 30; i++) {
    for (const kind of ['cheap', 'dear', 'nobody'] as const) {
      const before = process.cpuUsage()
      await isPasswordOf(kinds[kind], 'wrong', [least, most])
      times[kind].push(process.cpuUsage(before).user)
    }
  }
  const median = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] ?? NaN
  for (const kind of ['cheap', 'nobody'] as const) {
    const ratio = median(times[kind]) / median(times.dear)
    expect(ratio).toBeGreaterThan(0.75)
    expect(ratio).toBeLessThan(1.33)
  }
  expect(await isPasswordOf(cheap, 'right', [least, most])).toBe(true)
})
