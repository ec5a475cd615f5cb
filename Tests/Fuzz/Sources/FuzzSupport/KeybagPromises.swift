internal import CLibcrypto
@testable internal import IPhoneBackups
@testable internal import MigrationArchive

/// Promises about every keybag.
public enum KeybagPromises {
    private static let opened = "keybag whose keys were opened"
    private static let wrong = "keybag of another password"
    private static let partial = "keybag with some keys that can't be opened"
    private static let refused = "keybag that was refused"

    /// The milestones that the seeds must reach.
    public static let milestones = [opened, wrong, partial, refused]

    private static let password = [UInt8]("secret".utf8)

    /// Reads a keybag with a single round in each derivation, so that the fuzzer is fast, and opens
    /// it.
    public static func check(_ bytes: [UInt8]) throws {
        let bag: Keybag
        do {
            bag = try Keybag(withOneRound(bytes))
        } catch {
            FuzzTarget.require(error.code == .damaged, "a keybag is damaged: \(error)")
            Milestones.reach(refused)
            return
        }
        let secret = Secret(copying: password[...])
        do {
            let keys = try bag.open(with: secret)
            FuzzTarget.require(!keys.isEmpty && keys.count <= 64, "a keybag has a few keys")
            FuzzTarget.require(keys.values.allSatisfy { $0.count == 32 }, "a key has 32 bytes")
            Milestones.reach(opened)
        } catch {
            switch error.code {
            case .passphraseWrong: Milestones.reach(wrong)
            case .damaged: Milestones.reach(partial)
            default: FuzzTarget.require(false, "no other error: \(error)")
            }
        }
    }

    /// Leaves most rounds that are refused, and the length of every record.
    private static func withOneRound(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for tag in ["ITER\0\0\0\u{4}", "DPIC\0\0\0\u{4}"].map({ [UInt8]($0.utf8) }) {
            var index = 0
            while index + 12 <= bytes.count {
                if bytes[index..<index + 8].elementsEqual(tag), bytes[index + 8] <= 2 {
                    bytes.replaceSubrange(index + 8..<index + 12, with: [0, 0, 0, 1])
                }
                index += 1
            }
        }
        return bytes
    }

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let old = bag(isNew: false, password: password)
        let new = bag(isNew: true, password: password)
        var damaged = new
        damaged[damaged.count - 1] ^= 1
        return [
            old, new, damaged, bag(isNew: true, password: [1]), [UInt8](new.dropLast(5)),
            [UInt8](old.prefix(90)), [],
        ]
    }

    static func record(_ tag: String, _ value: [UInt8]) -> [UInt8] {
        [UInt8](tag.utf8) + [0, 0, 0, UInt8(value.count)] + value
    }

    private static func bag(isNew: Bool, password: [UInt8]) -> [UInt8] {
        let salt = [UInt8](repeating: 2, count: 20)
        var bytes = record("VERS", [0, 0, 0, 3]) + record("TYPE", [0, 0, 0, 1])
        bytes += record("UUID", [UInt8](repeating: 1, count: 16)) + record("SALT", salt)
        bytes += record("ITER", [0, 0, 0, 1])
        var key = password
        if isNew {
            bytes += record("DPIC", [0, 0, 0, 1]) + record("DPSL", salt)
            key = derived(key, salt, EVP_sha256())
        }
        key = derived(key, salt, EVP_sha1())
        for number in [9, 1, 3] as [UInt8] {
            bytes += record("UUID", [UInt8](repeating: number, count: 16))
            bytes += record("CLAS", [0, 0, 0, number])
            bytes += record("WRAP", [0, 0, 0, number == 9 ? 3 : 2])
            bytes += record("WPKY", wrapped([UInt8](repeating: number, count: 32), key))
        }
        return bytes
    }

    static func derived(
        _ secret: [UInt8],
        _ salt: [UInt8],
        _ hash: OpaquePointer?
    ) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 32)
        let result = secret.withUnsafeBytes { secret in
            PKCS5_PBKDF2_HMAC(
                secret.assumingMemoryBound(to: CChar.self).baseAddress,
                CInt(secret.count),
                salt,
                CInt(salt.count),
                1,
                hash,
                32,
                &key
            )
        }
        guard result == 1 else { fatalError("no key") }
        return key
    }

    private static func wrapped(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        var output = [UInt8](repeating: 0, count: bytes.count + 16)
        var count: CInt = 0
        guard EVP_EncryptInit_ex(context, EVP_aes_256_wrap(), nil, key, nil) == 1,
            EVP_EncryptUpdate(context, &output, &count, bytes, CInt(bytes.count)) == 1
        else { fatalError("no cipher") }
        return [UInt8](output.prefix(Int(count)))
    }
}
