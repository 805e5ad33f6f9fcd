import { cp, mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** What a Redis server has kept on its disk. */
export type RedisFiles = {
  /** As they are now, from a server that works on: the end of the log may be cut, as after a power failure. */
  copyTo: (folder: string) => Promise<void>
  /** In their place those of the copy, or none. The server must not run. */
  replace: (copy: string | null) => Promise<void>
}

export function redisFiles(folder: string): RedisFiles {
  const kept = async () =>
    (await readdir(folder)).filter((name) => /^(appendonlydir|.*\.(aof|rdb))$/.test(name))
  return {
    async copyTo(copy) {
      await mkdir(copy, { recursive: true })
      await copyAll(folder, copy, await kept())
    },
    async replace(copy) {
      for (const name of await kept()) await rm(join(folder, name), { recursive: true })
      if (copy !== null) await copyAll(copy, folder, await readdir(copy))
    },
  }
}

async function copyAll(from: string, to: string, names: readonly string[]): Promise<void> {
  for (const name of names) await cp(join(from, name), join(to, name), { recursive: true })
}
