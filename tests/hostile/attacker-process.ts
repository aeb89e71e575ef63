import { setPriority } from 'node:os'
import type { Target } from './attack.ts'
import { attacks } from './attacks/index.ts'
import { answers } from './flood.ts'

const [, , title, argument = ''] = process.argv
const target = JSON.parse(argument) as Target
// A real attacker has a machine of its own, so this process gets little processor time. Beside other tests it needs
// some.
setPriority(target.full ? 10 : 5)

const attack = attacks.find((one) => one.title === title)
if (attack === undefined) throw new Error(`there is no attack "${String(title)}"`)
attack.run(target)
setInterval(() => process.stdout.write(`${JSON.stringify([...answers])}\n`), 200)
