import { stat } from 'node:fs/promises'
import { unless } from './errors.ts'

/** Whether two paths lead to one folder, whatever links and mounts are on the way; undefined if there is nothing at one of them. */
const compare = async (one: string, other: string): Promise<boolean | undefined> => {
  const [a, b] = await Promise.all([one, other].map((path) => unless(['ENOENT', 'ENOTDIR', 'EACCES'], stat(path))))
  return a === undefined || b === undefined ? undefined : a.dev === b.dev && a.ino === b.ino
}

export const isSameFolder = async (one: string, other: string): Promise<boolean> => (await compare(one, other)) === true

/** Whether both are there, and are two. */
export const isAnotherFolder = async (one: string, other: string): Promise<boolean> =>
  (await compare(one, other)) === false
