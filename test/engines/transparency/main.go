// Checks a log of Annals with torchwood, which we did not write: the checkpoint, all entries against it, and a proof.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"

	"filippo.io/torchwood"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

func main() {
	if len(os.Args) != 4 && len(os.Args) != 5 {
		fail(fmt.Errorf("usage: check-log <address of the log> <vkey> <proof> [<policy>]"))
	}
	entries, err := checkLog(os.Args[1], os.Args[2])
	if err != nil {
		fail(err)
	}
	policy, err := policyOf(os.Args[2])
	if len(os.Args) == 5 {
		policy, err = policyIn(os.Args[4])
	}
	if err != nil {
		fail(err)
	}
	if err := checkProof(os.Args[3], policy); err != nil {
		fail(err)
	}
	fmt.Println(entries)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// checkLog reads every entry, and returns their number.
func checkLog(address, vkey string) (int64, error) {
	policy, err := policyOf(vkey)
	if err != nil {
		return 0, err
	}
	fetcher, err := torchwood.NewTileFetcher(address)
	if err != nil {
		return 0, err
	}
	client, err := torchwood.NewClient(fetcher)
	if err != nil {
		return 0, err
	}
	ctx := context.Background()
	signed, err := fetcher.ReadEndpoint(ctx, "checkpoint")
	if err != nil {
		return 0, err
	}
	checkpoint, _, err := torchwood.VerifyCheckpoint(signed, policy)
	if err != nil {
		return 0, err
	}
	var count int64
	for index, entry := range client.AllEntries(ctx, checkpoint.Tree, 0) {
		if index != count || len(entry) != sha256.Size {
			return 0, fmt.Errorf("entry %d has %d bytes", index, len(entry))
		}
		count++
	}
	if err := client.Err(); err != nil {
		return 0, err
	}
	if count != checkpoint.N {
		return 0, fmt.Errorf("%d entries of %d", count, checkpoint.N)
	}
	return count, nil
}

type extra struct {
	Event string `json:"event"`
	Salt  []byte `json:"salt"`
}

func checkProof(path string, policy torchwood.Policy) error {
	proof, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	encoded, err := torchwood.ProofExtraData(proof)
	if err != nil {
		return err
	}
	var more extra
	if err := json.Unmarshal(encoded, &more); err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(more.Event))
	entry := sha256.Sum256(append(more.Salt, hash[:]...))
	return torchwood.VerifyProof(policy, tlog.RecordHash(entry[:]), proof)
}

// policyIn reads a policy with the log, its witnesses and a quorum.
func policyIn(path string) (torchwood.Policy, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return torchwood.ParsePolicy(text)
}

func policyOf(vkey string) (torchwood.Policy, error) {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, err
	}
	return torchwood.ThresholdPolicy(2, torchwood.OriginPolicy(verifier.Name()), torchwood.SingleVerifierPolicy(verifier)), nil
}
