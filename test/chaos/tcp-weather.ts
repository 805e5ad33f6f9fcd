/** How it is between client and server. */
export type Weather = {
  refuses: boolean
  isStalled: boolean
  delayMs: number
  /** Null as fast as it goes. */
  bytesPerSecond: number | null
  resets: { share: number; fraction: () => number } | null
  /** Answers end there; null where their servers end them. */
  answerBytesMax: number | null
  /** What a client must send to be cut off; null for nothing. */
  needle: { bytes: Buffer; found: () => void } | null
}

export type WeatherStation = {
  now: () => Weather
  /** Resolves once nothing is stalled. */
  clear: () => Promise<void>
  switches: {
    heal: () => void
    stall: () => void
    refuse: () => void
    delay: (milliseconds: number) => void
    throttle: (bytesPerSecond: number) => void
    reset: (share: number, fraction: () => number) => void
    cutAfterSent: (bytes: Buffer) => Promise<void>
    truncate: (bytes: number) => void
  }
}

const fair: Weather = {
  refuses: false,
  isStalled: false,
  delayMs: 0,
  bytesPerSecond: null,
  resets: null,
  answerBytesMax: null,
  needle: null,
}

export function createWeather(): WeatherStation {
  let now = fair
  let healed = Promise.withResolvers<void>()
  const turn = (change: Partial<Weather>) => {
    const wasStalled = now.isStalled
    now = { ...now, ...change }
    if (!wasStalled || now.isStalled) return
    healed.resolve()
    healed = Promise.withResolvers()
  }
  return {
    now: () => now,
    clear: async () => {
      while (now.isStalled) await healed.promise
    },
    switches: {
      heal: () => turn(fair),
      stall: () => turn({ isStalled: true }),
      // What is stalled is let go, so that it ends.
      refuse: () => turn({ refuses: true, isStalled: false }),
      delay: (delayMs) => turn({ delayMs }),
      throttle: (bytesPerSecond) => turn({ bytesPerSecond }),
      reset: (share, fraction) => turn({ resets: { share, fraction } }),
      truncate: (answerBytesMax) => turn({ answerBytesMax }),
      cutAfterSent(bytes) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const found = () => {
          turn({ needle: null })
          resolve()
        }
        turn({ needle: { bytes, found } })
        return promise
      },
    },
  }
}
